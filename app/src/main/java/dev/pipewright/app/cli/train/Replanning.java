package dev.pipewright.app.cli.train;

import dev.pipewright.api.Planned;
import dev.pipewright.api.Planners;
import dev.pipewright.api.Problem;
import dev.pipewright.app.cli.launch.LaunchedRank;
import dev.pipewright.app.cli.train.TrainArgument.Chosen;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.formats.MadeFor;
import dev.pipewright.formats.PlanFile;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.EnumWords;
import dev.pipewright.formats.problem.ClusterNames;
import dev.pipewright.model.Training;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * Plans a run anew for the devices of the ranks that are left, with the same samples per step, by
 * the default planner. The devices, which may be of several kinds, are those of the plan's cluster
 * that its workers on these ranks have.
 */
final class Replanning {
  private final Chosen chosen;
  private final MadeFor madeFor;
  private final Cluster cluster;
  private final List<List<Integer>> devices; // by rank

  private Replanning(Chosen chosen, MadeFor madeFor, Cluster cluster, List<List<Integer>> devices) {
    this.chosen = chosen;
    this.madeFor = madeFor;
    this.cluster = cluster;
    this.devices = devices;
  }

  /**
   * Replanning of a plan that ranks share.
   *
   * @param ranks that the plan needs
   * @throws BadInputException where the plan does not say what it was made for
   */
  static Replanning of(Chosen chosen, int ranks) {
    TrainingStages file =
        chosen
            .plan()
            .orElseThrow(() ->
                new BadInputException(
                    "--replan: %s is a network and no plan, so its cluster is unknown; give a file"
                            .formatted(chosen.model())
                        + " that `plan --out` has written"));
    String name =
        file.madeFor()
            .cluster()
            .orElseThrow(() ->
                new BadInputException(
                    "--replan: the plan does not say its cluster; give a file that `plan --out` has"
                        + " written"));
    Cluster cluster = ClusterNames.resolve(name);
    List<Integer> devices = file.devices();
    for (int device : devices) {
      if (device >= cluster.size()) {
        throw new BadInputException(
            "--replan: the plan uses device %d, but its cluster %s has %d; plan for it anew"
                .formatted(device, name, cluster.size()));
      }
    }
    return new Replanning(chosen, file.madeFor(), cluster, LaunchedRank.shares(devices, ranks));
  }

  /** The same after some ranks of a former start have become those of this one, in their order. */
  Replanning only(List<Integer> ranks) {
    return new Replanning(chosen, madeFor, cluster, ranks.stream().map(devices::get).toList());
  }

  /** The workers of a rank. */
  int workersOf(int rank) {
    return devices.get(rank).size();
  }

  /**
   * The run on the devices of some ranks.
   *
   * @throws BadInputException where no plan fits them
   */
  Chosen on(Collection<Integer> ranks) {
    List<Integer> left = ranks.stream().map(devices::get).flatMap(List::stream).sorted().toList();
    Planned planned = Planners.plan(problem(cluster.only(left)));
    if (!planned.isFound()) {
      throw new BadInputException(
          "--replan: nothing fits the %d devices that are left: %s; start more ranks"
              .formatted(left.size(), planned.reason().orElse("no plan was found")));
    }
    TrainingStages stages =
        new TrainingStages(
            new PlanFile<>(planned.plan(), madeFor, Optional.empty()), planned.plan().stages());
    Chosen usual =
        new Chosen(
            chosen.model(),
            chosen.sequence(),
            stages.assignment(TrainedNetwork.graph(chosen.model(), chosen.sequence())),
            Optional.of(stages));
    Chosen sharded = usual.sharded(chosen.zero());
    return sharded.assignment().shardingRefusal().isEmpty() ? sharded : usual;
  }

  private Problem problem(Cluster part) {
    Problem problem =
        Problem.of(chosen.model(), part, Math.toIntExact(chosen.assignment().batch()));
    if (chosen.sequence().isPresent()) {
      problem = problem.withSequence(chosen.sequence().getAsInt());
    }
    if (madeFor.profileBatch().isPresent()) {
      problem = problem.withProfileBatch(madeFor.profileBatch().getAsInt());
    }
    if (madeFor.training().isPresent()) {
      Training training = madeFor.training().get();
      problem =
          problem
              .withOptimizer(EnumWords.word(training.optimizer()))
              .withPrecision(EnumWords.word(training.precision()));
    }
    if (madeFor.memory().bytes().isPresent()) {
      problem = problem.withMemory(Long.toString(madeFor.memory().bytes().getAsLong()));
    }
    if (madeFor.memory().reserve().isPresent()) {
      problem = problem.withMemoryReserve(madeFor.memory().reserve().getAsDouble());
    }
    return problem;
  }

  /** What a plan is, in a word or two. */
  static String words(Chosen of) {
    return "%s on %d devices".formatted(of.assignment().schedule().name(), of.assignment().size());
  }
}
