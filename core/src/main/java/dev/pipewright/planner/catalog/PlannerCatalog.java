package dev.pipewright.planner.catalog;

import dev.pipewright.planner.DapplePlanner;
import dev.pipewright.planner.PlainPipeline;
import dev.pipewright.planner.PlainPipeline.Cut;
import dev.pipewright.planner.Request.Shape;
import dev.pipewright.planner.alpa.AlpaPlanner;
import dev.pipewright.planner.catalog.PlannerEntry.Schedules;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * All planners for synchronous training that make the step short, in the order of the help text.
 */
public final class PlannerCatalog {
  private static final List<PlannerEntry> ENTRIES =
      List.of(
          PlannerEntry.of("auto", DapplePlanner::plan).with(Schedules.ANY),
          PlannerEntry.of("dapple", DapplePlanner::plan).with(Schedules.ANY),
          PlannerEntry.of("exact", DapplePlanner::exact).proving(),
          PlannerEntry.of("data", DapplePlanner::plan).only(Shape.DATA_PARALLEL),
          PlannerEntry.of("straight", DapplePlanner::plan).only(Shape.PIPELINE).with(Schedules.ANY),
          PlannerEntry.of("gpipe", DapplePlanner::plan)
              .only(Shape.PIPELINE)
              .trying(PipelinePolicy.ALL)
              .with(Schedules.OWN),
          plain(Cut.UNIFORM_LAYERS),
          plain(Cut.UNIFORM_PARAMETERS),
          plain(Cut.TORCHGPIPE),
          PlannerEntry.of(AlpaPlanner.NAME, AlpaPlanner::plan)
              .trying(PipelinePolicy.A)
              .because((costs, request) -> AlpaPlanner.sentence(costs)));

  private PlannerCatalog() {}

  private static PlannerEntry plain(Cut cut) {
    return PlannerEntry.of(
            cut.word(),
            (costs, request, decides, stop) ->
                PlainPipeline.plan(cut, costs, request, decides, stop))
        .trying(PipelinePolicy.A) // what those programs run
        .because((costs, request) -> PlainPipeline.sentence(cut, costs, request));
  }

  public static List<PlannerEntry> entries() {
    return ENTRIES;
  }

  /** The planner of a name; empty where there is none. */
  public static Optional<PlannerEntry> find(String name) {
    return ENTRIES.stream().filter(entry -> entry.name().equals(name)).findFirst();
  }

  /** Their names. */
  public static Stream<String> names() {
    return ENTRIES.stream().map(PlannerEntry::name);
  }
}
