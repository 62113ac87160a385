package dev.pipewright.planner.catalog;

import dev.pipewright.planner.AutoPlanner;
import dev.pipewright.planner.DapplePlanner;
import dev.pipewright.planner.Objective;
import dev.pipewright.planner.PlainPipeline;
import dev.pipewright.planner.PlainPipeline.Cut;
import dev.pipewright.planner.Request.Shape;
import dev.pipewright.planner.alpa.AlpaPlanner;
import dev.pipewright.planner.catalog.StepPlanner.Schedules;
import dev.pipewright.planner.madpipe.MadPipe;
import dev.pipewright.planner.madpipe.PeriodicPlanner;
import dev.pipewright.planner.memory.Capture;
import dev.pipewright.planner.memory.McapBruteForce;
import dev.pipewright.planner.memory.McapExact;
import dev.pipewright.planner.memory.TieBreak;
import dev.pipewright.planner.pipedream.PipeDream2bwPlanner;
import dev.pipewright.planner.pipedream.PipeDreamPlanner;
import dev.pipewright.planner.placement.PlacementPlanner;
import dev.pipewright.planner.placement.PlacementRequest;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.stream.Stream;

/** All planners, by what they make small, in the order of the help text. */
public final class PlannerCatalog {
  /** The planner that plans where none is named. */
  public static final String DEFAULT = AutoPlanner.NAME;

  /** The planner of one pipeline with a device for each stage; of one stage, of one device. */
  public static final String STRAIGHT = "straight";

  private static final List<PlannerEntry> OWN =
      List.of(
          PlannerEntry.time(
              DEFAULT,
              "the fastest step; the default",
              StepPlanner.of(AutoPlanner::plan)
                  .with(Schedules.ANY)
                  .because((costs, request, planning) -> AutoPlanner.sentence(costs, request))),
          PlannerEntry.time(
              "dapple",
              "hybrids of data and pipeline parallelism",
              StepPlanner.of(DapplePlanner::plan).with(Schedules.ANY)),
          PlannerEntry.time(
              "exact",
              "the same, until it is proven",
              StepPlanner.of(DapplePlanner::exact).proving()),
          PlannerEntry.time(
              "data",
              "data parallelism only",
              StepPlanner.of(DapplePlanner::plan).only(Shape.DATA_PARALLEL)),
          PlannerEntry.time(
              STRAIGHT,
              "one pipeline, a device for each stage",
              StepPlanner.of(DapplePlanner::plan).only(Shape.PIPELINE).with(Schedules.ANY)),
          PlannerEntry.time(
              "gpipe",
              "the same with GPipe's schedule",
              StepPlanner.of(DapplePlanner::plan)
                  .only(Shape.PIPELINE)
                  .trying(PipelinePolicy.ALL)
                  .with(Schedules.OWN)),
          plain(Cut.UNIFORM_LAYERS, "DeepSpeed's and Megatron's equal numbers of layers"),
          plain(Cut.UNIFORM_PARAMETERS, "DeepSpeed's equal numbers of parameters"),
          plain(Cut.TORCHGPIPE, "torchgpipe's blocks of balanced times"),
          PlannerEntry.time(
              AlpaPlanner.NAME,
              "Alpa's stages and submeshes",
              StepPlanner.of(AlpaPlanner::plan)
                  .trying(PipelinePolicy.A)
                  .because((costs, request, planning) -> AlpaPlanner.sentence(costs))),
          PlannerEntry.throughput(
                  PipeDreamPlanner.NAME,
                  "PipeDream's stages and replicas",
                  new SteadyPlanner(true, false, PipeDreamPlanner::plan))
              .and(PlannerOption.LEVELS, PlannerOption.BANDWIDTHS)
              .with(PipeDreamPlanner.FLAGS),
          PlannerEntry.throughput(
              PipeDream2bwPlanner.NAME,
              "PipeDream-2BW's equal pipelines",
              new SteadyPlanner(true, true, PipeDream2bwPlanner::plan)),
          PlannerEntry.throughput(
                  MadPipe.NAME,
                  "MadPipe's patterns within memory",
                  new SteadyPlanner(false, true, PeriodicPlanner::plan))
              .and(PlannerOption.RECOMPUTE),
          PlannerEntry.memory(
              McapExact.NAME,
              "mCAP's stages of one device each, exactly",
              McapMethod.cutting(stop ->
                  (peaks, layers, stages) ->
                      McapExact.of(peaks, layers, stages, TieBreak.NEXT_PEAKS, stop))),
          PlannerEntry.memory(
              McapBruteForce.NAME,
              "the same by brute force",
              McapMethod.cutting(stop ->
                  (peaks, layers, stages) -> McapBruteForce.of(peaks, layers, stages, stop))),
          PlannerEntry.memory(
              Capture.NAME,
              "CAPTURE's data and tensor parallelism of each stage",
              StepPlanner.of((costs, request, decides, stop) -> Capture.plan(costs, request, stop))
                  .recomputing(Recomputation.NEVER)
                  .because(McapMethod::smallestPeak)),
          new PlannerEntry(
              PlacementPlanner.NAME,
              "operators on accelerators and processors",
              Objective.THROUGHPUT,
              Set.of(),
              PlacementRequest.FLAGS,
              new OperatorPlanner((graph, flags, stop) ->
                  PlacementPlanner.plan(graph, PlacementRequest.of(flags, stop)))));

  private static final List<PlannerEntry> ENTRIES = all();

  private PlannerCatalog() {}

  /** Those of this module, then those of others, by objective. */
  private static List<PlannerEntry> all() {
    List<PlannerEntry> all = new ArrayList<>(OWN);
    ServiceLoader.load(PlannerProvider.class).forEach(others -> all.addAll(others.entries()));
    return all.stream().sorted(Comparator.comparing(PlannerEntry::objective)).toList();
  }

  private static PlannerEntry plain(Cut cut, String words) {
    return PlannerEntry.time(
        cut.word(),
        words,
        StepPlanner.of((costs, request, decides, stop) ->
                PlainPipeline.plan(cut, costs, request, decides, stop))
            .trying(PipelinePolicy.A) // what those programs run
            .because((costs, request, planning) -> PlainPipeline.sentence(cut, costs, request)));
  }

  public static List<PlannerEntry> entries() {
    return ENTRIES;
  }

  /** The planners that make it small. */
  public static List<PlannerEntry> entries(Objective objective) {
    return ENTRIES.stream().filter(entry -> entry.objective() == objective).toList();
  }

  /**
   * The planner that is meant where only an objective is named; empty where several compete.
   *
   * @param measured whether it plans for measured peaks of layers
   */
  public static Optional<PlannerEntry> of(Objective objective, boolean measured) {
    return switch (objective) {
      case STEP_TIME, COST, P95 -> find(DEFAULT);
      case PEAK_MEMORY -> find(measured ? McapExact.NAME : Capture.NAME);
      case THROUGHPUT -> Optional.empty();
    };
  }

  /** The planners that have flags of their own. */
  public static List<PlannerEntry> withFlags() {
    return ENTRIES.stream().filter(entry -> !entry.flags().isEmpty()).toList();
  }

  /** The planner of a name; empty where there is none. */
  public static Optional<PlannerEntry> find(String name) {
    return ENTRIES.stream().filter(entry -> entry.name().equals(name)).findFirst();
  }

  /** How the planner of a name plans steps of synchronous training; empty where it does not. */
  public static Optional<StepPlanner> steps(String name) {
    return find(name).flatMap(PlannerEntry::steps);
  }

  /** All names. */
  public static Stream<String> names() {
    return ENTRIES.stream().map(PlannerEntry::name);
  }

  /** The names of those that plan steps of synchronous training. */
  public static Stream<String> stepPlanners() {
    return ENTRIES.stream().filter(entry -> entry.steps().isPresent()).map(PlannerEntry::name);
  }
}
