package dev.pipewright.app.cli.plan;

import dev.pipewright.app.cli.input.ModelArgument;
import dev.pipewright.app.cli.terminal.SearchDeadline;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.formats.MadeFor;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.memory.McapTable;
import dev.pipewright.formats.problem.SizeLimits;
import dev.pipewright.planner.Objective;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.catalog.PlannerCatalog;
import dev.pipewright.planner.catalog.PlannerEntry;
import dev.pipewright.planner.catalog.StepPlanner;
import dev.pipewright.planner.catalog.StepPlanner.PeakSearch;
import dev.pipewright.planner.memory.LayerPeaks;
import dev.pipewright.planner.memory.PeakBinding;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Plans of the smallest peak for a table of measured peaks ({@link McapTable}), which needs no
 * batch.
 *
 * @param stopped whether the search was asked to end early
 */
record PeaksAnswer(Planning planning, boolean stopped) implements Answer.Remarks {
  /** Plans by measured peaks; throws {@link BadInputException} where the planner cannot. */
  static Answer of(
      PlannerEntry planner,
      Path table,
      ModelArgument arguments,
      SynchronousFlags flags,
      SearchDeadline patience) {
    PeakSearch search =
        planner.steps().flatMap(StepPlanner::peaks).orElseThrow(() -> refusal(planner, table));
    Cluster cluster = arguments.cluster(Optional.empty());
    SizeLimits.devices(cluster);
    LayerPeaks peaks = McapTable.read(table);
    int stages =
        flags
            .stages(table.toString(), peaks::layers, cluster.name(), cluster.size())
            .orElse(cluster.size());
    MadeFor madeFor =
        new MadeFor(
            Optional.of(table.toString()),
            Optional.ofNullable(arguments.cluster),
            OptionalLong.empty(),
            OptionalInt.empty(),
            OptionalInt.empty(),
            Optional.empty(),
            arguments.memory(cluster));
    long start = System.nanoTime();
    Planning planning;
    try {
      planning = search.plan(peaks, cluster, stages, patience);
    } catch (BadInputException e) {
      throw e; // a sentence already
    } catch (IllegalArgumentException e) {
      throw new BadInputException("--planner " + planner.name() + ": " + e.getMessage());
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    return new Answer(
        planning,
        new Answer.Subject(madeFor, cluster, table.toString(), Optional.empty()),
        seconds,
        new PeaksAnswer(planning, patience.ended()));
  }

  private static BadInputException refusal(PlannerEntry planner, Path table) {
    return new BadInputException(
        "%s: peaks of single devices say nothing of shared stages; plan with %s, or %s without the table"
            .formatted(
                table,
                PlannerCatalog.of(Objective.PEAK_MEMORY, true).orElseThrow().name(),
                planner.name()));
  }

  @Override
  public List<String> of() {
    return stopped && !planning.search().exhaustive()
        ? List.of("the search was ended early; this is the best so far")
        : List.of();
  }

  @Override
  public Optional<String> nothing() {
    return Optional.of(PeakBinding.remedy(planning.candidates().get(0)));
  }
}
