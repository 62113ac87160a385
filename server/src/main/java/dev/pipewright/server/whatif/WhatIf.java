package dev.pipewright.server.whatif;

import dev.pipewright.api.Nearby;
import dev.pipewright.api.Planned;
import dev.pipewright.api.Planners;
import dev.pipewright.api.Problem;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.ClusterVariants;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.server.store.StudyStore;
import dev.pipewright.server.study.KeptPlan;
import dev.pipewright.server.study.Recent;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Semaphore;
import java.util.function.UnaryOperator;

/**
 * Searches the plan of a study again where sliders have been moved, while the user waits. Safe for
 * threads.
 */
public final class WhatIf {
  private static final int KEPT = 32;

  private final StudyStore store;
  private final Semaphore searches =
      new Semaphore(Runtime.getRuntime().availableProcessors(), true);
  private final Recent<String, Question> known = new Recent<>(KEPT);

  /** A study's plan with what it is for. */
  private record Question(KeptPlan kept, Cluster cluster) {}

  public WhatIf(StudyStore store) {
    this.store = store;
  }

  private Question question(String id) {
    Optional<Question> found = known.find(id);
    if (found.isPresent()) {
      return found.get();
    }
    KeptPlan kept = KeptPlan.of(store, id);
    Question made = new Question(kept, kept.with(Problem::cluster));
    known.keep(id, made);
    return made;
  }

  /** The plan of a study; throws {@code BadInputException} where it has none. */
  public KeptPlan kept(String id) {
    return question(id).kept();
  }

  /** Where the sliders of a study are. */
  public Sliders sliders(String id, UnaryOperator<String> sent) {
    Question question = question(id);
    return Sliders.of(question.kept(), question.cluster(), sent);
  }

  /** The best plan that is found at once. */
  public Moved moved(String id, Sliders sliders) throws InterruptedException {
    long start = System.nanoTime();
    Question question = question(id);
    Cluster on = cluster(question.cluster(), sliders);
    int microBatches = (int) sliders.value(Sliders.MICRO_BATCHES);
    Nearby nearby =
        new Nearby(
            List.of(question.kept().plan()),
            microBatches == 0 ? OptionalInt.empty() : OptionalInt.of(microBatches),
            sliders.value(Sliders.STRAGGLER));
    searches.acquire();
    try {
      Planned planned =
          question
              .kept()
              .with(problem ->
                  Planners.planNear(
                      problem.on(on),
                      nearby,
                      () -> System.nanoTime() - start > Nearby.PATIENCE.toNanos()));
      Optional<Candidate> best = planned.planning().best();
      return MovedFigures.of(
          question.kept(),
          best,
          on,
          sliders.value(Sliders.PRICE),
          planned.planning().search().labels(),
          System.nanoTime() - start);
    } finally {
      searches.release();
    }
  }

  private static Cluster cluster(Cluster as, Sliders sliders) {
    Cluster sized = ClusterVariants.sized(as, (int) sliders.value(Sliders.DEVICES));
    double memory = sliders.value(Sliders.MEMORY);
    Cluster roomy = memory == 1 ? sized : ClusterVariants.withMemoryTimes(sized, memory);
    Cluster fast = ClusterVariants.withBandwidthTimes(roomy, sliders.value(Sliders.BANDWIDTH));
    return ClusterVariants.withLatencyTimes(fast, sliders.value(Sliders.LATENCY));
  }
}
