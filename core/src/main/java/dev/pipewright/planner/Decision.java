package dev.pipewright.planner;

import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.Planning.Candidate;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Chooses among the best few candidates by a second oracle, a simulator, which may also move their
 * cuts: estimates rank well but leave out some bubbles.
 */
final class Decision {
  /** Candidates that the second oracle sees. */
  private static final int BEST_FEW = 8;

  /** Of these the cuts are moved. */
  private static final int POLISHED = 4;

  /** Plans that the second oracle is asked about for each candidate whose cuts are moved. */
  private static final int MOST_MOVES = 64;

  /** Micro-batches times stages above which the second oracle takes too long for moves. */
  private static final long MOST_OPS = 200_000;

  private static final Comparator<Candidate> ORDER =
      Comparator.comparingDouble(Candidate::seconds)
          .thenComparingInt(candidate -> candidate.plan().stages().size());

  private final StageCosts costs;
  private final Oracle estimates;
  private final Oracle decides;
  private final BooleanSupplier stop;
  private final Optional<SelectiveRecomputation> selective;

  /**
   * Nothing decided yet.
   *
   * @param selective of all positions, where stages may compute some of them again
   * @param stop asked before every move of a cut whether to leave it at that
   */
  Decision(
      StageCosts costs,
      Oracle estimates,
      Oracle decides,
      Optional<SelectiveRecomputation> selective,
      BooleanSupplier stop) {
    this.costs = costs;
    this.selective = selective;
    this.estimates = estimates;
    this.stop = stop;
    this.decides = decides;
  }

  /** A plan with its estimate. */
  static Candidate estimated(PipelinePlan plan, Oracle estimates) {
    return new Candidate(plan.kind(), plan, estimates.assess(plan), Optional.empty());
  }

  /** All candidates by estimate, each work division once. */
  static List<Candidate> ranked(List<Candidate> candidates) {
    List<Candidate> sorted = new ArrayList<>(candidates);
    sorted.sort(ORDER);
    Set<List<Object>> seen = new HashSet<>();
    sorted.removeIf(candidate -> {
      PipelinePlan plan = candidate.plan();
      return !seen.add(
          List.of(
              plan.microBatches(), plan.microBatching(), plan.overlapGradients(), plan.stages()));
    });
    return sorted;
  }

  /** The best first, by the second oracle where it was asked. */
  List<Candidate> decide(List<Candidate> candidates) {
    List<Candidate> sorted = ranked(candidates);
    int few = Math.min(BEST_FEW, sorted.size());
    for (int i = 0; i < few; i++) {
      sorted.set(i, decided(sorted.get(i)));
    }
    sorted.subList(0, few).sort(ORDER);
    for (int i = 0; i < Math.min(POLISHED, few); i++) {
      sorted.set(i, polished(sorted.get(i)));
    }
    for (int i = 0; i < few && selective.isPresent(); i++) {
      sorted.set(i, relieved(sorted.get(i), selective.get()));
    }
    sorted.subList(0, few).sort(ORDER);
    return different(sorted);
  }

  /** With fewer layers computed again, where that is faster. */
  private Candidate relieved(Candidate candidate, SelectiveRecomputation fewer) {
    return fewer
        .of(candidate.plan())
        .map(plan -> decided(estimated(plan, estimates)))
        .filter(other -> other.seconds() < candidate.seconds())
        .orElse(candidate);
  }

  /** Of plans that differ only in their micro-batches the first. */
  private static List<Candidate> different(List<Candidate> sorted) {
    Set<List<Object>> seen = new HashSet<>();
    List<Candidate> kept = new ArrayList<>();
    for (Candidate candidate : sorted) {
      PipelinePlan plan = candidate.plan();
      List<Object> split = new ArrayList<>();
      split.add(plan.overlapGradients());
      for (StagePlan stage : plan.stages()) {
        split.add(stage.lastLayer());
        split.add(stage.replicas());
      }
      if (seen.add(split)) {
        kept.add(candidate);
      }
    }
    return kept;
  }

  private Candidate decided(Candidate candidate) {
    return candidate.simulated(decides.assess(candidate.plan()));
  }

  /** Moves one cut at a time, by ever fewer layers, as long as that helps. */
  private Candidate polished(Candidate candidate) {
    Candidate best = candidate;
    int stages = best.plan().stages().size();
    if (2L * stages * best.plan().microBatches() > MOST_OPS) {
      return best;
    }
    int moves = 0;
    for (int by = Math.max(1, costs.size() / 128); by >= 1; by /= 2) {
      boolean better = true;
      while (better && moves < MOST_MOVES) {
        better = false;
        for (int cut = 1; cut < stages && moves < MOST_MOVES && !stop.getAsBoolean(); cut++) {
          for (int way : new int[] {-by, by}) {
            Optional<PipelinePlan> moved = moved(best.plan(), cut, way);
            if (moved.isEmpty()) {
              continue;
            }
            moves++;
            Candidate other = estimated(moved.get(), estimates);
            if (other.estimate().fits() && other.estimate().stepSeconds() < best.seconds()) {
              other = decided(other);
              if (other.seconds() < best.seconds()) {
                best = other;
                better = true;
              }
            }
          }
        }
      }
    }
    return best;
  }

  /** The plan with the front of stage {@code cut} moved by so many layers, if that is a plan. */
  private Optional<PipelinePlan> moved(PipelinePlan plan, int cut, int by) {
    StagePlan before = plan.stages().get(cut - 1);
    StagePlan after = plan.stages().get(cut);
    int first = after.firstLayer() + by;
    if (first <= before.firstLayer() || first > after.lastLayer()) {
      return Optional.empty();
    }
    if (!costs.isStage(before.firstLayer(), first)
        || !costs.isStage(first, after.lastLayer() + 1)) {
      return Optional.empty();
    }
    List<StagePlan> stages = new ArrayList<>(plan.stages());
    stages.set(
        cut - 1,
        new StagePlan(
            before.firstLayer(),
            first - 1,
            before.devices(),
            allOrNone(before),
            before.inFlight()));
    stages.set(
        cut,
        new StagePlan(
            first, after.lastLayer(), after.devices(), allOrNone(after), after.inFlight()));
    PipelinePlan moved = plan.with(stages);
    return Optional.of(selective.flatMap(fewer -> fewer.of(moved)).orElse(moved));
  }

  private static Recompute allOrNone(StagePlan stage) {
    return stage.recompute() == Recompute.SELECTIVE ? Recompute.STAGE_INPUT : stage.recompute();
  }
}
