package dev.pipewright.app.cli.train;

import dev.pipewright.app.cli.launch.LaunchedRank;
import dev.pipewright.app.cli.launch.RunHosts;
import dev.pipewright.app.cli.train.TrainArgument.Chosen;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * What the ranks of a launcher train: the plan, or another one where too few of them have started.
 *
 * @param anew whether it is another one
 * @param replanning for the case that ranks are lost later, where that is wanted
 */
record PlannedRanks(Chosen chosen, boolean anew, Optional<Replanning> replanning) {
  /** The plan, whatever happens. */
  static PlannedRanks fixed(Chosen chosen) {
    return new PlannedRanks(chosen, false, Optional.empty());
  }

  /**
   * The plan where all ranks that it needs have started, otherwise one for those that have. Each
   * rank finds the same.
   *
   * @param needed ranks; one where a rank takes any number of workers
   * @param run the folder of the run, which keeps on which hosts all ranks had started
   */
  static PlannedRanks of(
      Chosen chosen,
      LaunchedRank rank,
      int needed,
      Map<String, String> environment,
      Optional<Path> run) {
    int ranks = rank.worldSize();
    Replanning all = Replanning.of(chosen, Math.max(ranks, needed));
    if (ranks >= needed) {
      if (rank.coordinates()) {
        run.ifPresent(folder -> RunHosts.keep(environment, ranks, folder));
      }
      return new PlannedRanks(chosen, false, Optional.of(all));
    }
    List<Integer> left = RunHosts.left(environment, needed, ranks, run);
    Replanning some = all.only(left);
    Chosen other = some.on(IntStream.range(0, ranks).boxed().toList());
    return new PlannedRanks(other, true, Optional.of(some));
  }
}
