package dev.pipewright.bench.planners;

import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Networks;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.formats.PlacementJson;
import dev.pipewright.planner.alpa.InterOperatorPlanner;
import dev.pipewright.planner.alpa.StageTable;
import dev.pipewright.planner.pipedream.BandwidthLevel;
import dev.pipewright.planner.pipedream.CutCosts;
import dev.pipewright.planner.pipedream.PipeDreamOptimizer;
import dev.pipewright.planner.placement.OperatorGraph;
import dev.pipewright.planner.placement.PlacementPlanner;
import dev.pipewright.planner.placement.PlacementRequest;
import dev.pipewright.planner.placement.PlacementResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;

/** Planning times beside those of the authors' programs and the bars that are set for them. */
public final class PlannerBars {
  public static final List<BandwidthLevel> FOUR_BY_FOUR =
      List.of(new BandwidthLevel(4, 25e9), new BandwidthLevel(4, 1e9));
  private static final int DEVICES = 64;
  private static final int LAYERS = 32;
  private static final int MICRO_BATCHES = 128;
  private static final int SAMPLES = 64;

  private final Reference reference;
  private final Markdown table =
      new Markdown(
          "planning", "outcome", "theirs, s", "bar, s", "first, s", "warm, s", "processor, s", "");

  private PlannerBars(Reference reference) {
    this.reference = reference;
  }

  static Markdown table(Reference reference) {
    PlannerBars bars = new PlannerBars(reference);
    bars.pipeDream();
    bars.placement();
    bars.interOperator();
    return bars.table;
  }

  private void row(String what, String outcome, String theirs, double bar, PlannerTiming timing) {
    table.row(
        what,
        outcome,
        theirs,
        Numbers.seconds(bar),
        Numbers.seconds(timing.first()),
        Numbers.seconds(timing.wall()),
        Numbers.seconds(timing.cpu()),
        timing.wall() <= bar ? "holds" : timing.cpu() <= bar ? "holds by processor" : "misses");
  }

  private void pipeDream() {
    if (ReferenceNetwork.of("resnet50").in(reference)) {
      bar("PipeDream, resnet50 (240 states), 4×4", "10.7", 0.1, costs("resnet50"));
      bar("PipeDream, gnmt-16 (1,495 states), 4×4", "not finished", 10, costs("gnmt-16"));
    }
    bar("PipeDream, chain of 1,500 states, 4×4", "not finished", 10, ScalingInputs.chain(1_500));
  }

  private CutCosts costs(String network) {
    ReferenceNetwork one = ReferenceNetwork.of(network);
    return PipeDreamStages.costs(one.on(reference, Networks.cluster("dapple-a")), one.miniBatch());
  }

  private void bar(String what, String theirs, double bar, CutCosts costs) {
    timed(
        what,
        theirs,
        bar,
        () -> {
          double seconds =
              PipeDreamOptimizer.plan(costs, FOUR_BY_FOUR, true, () -> false).seconds();
          return Numbers.significant(1e3 * seconds) + " ms per mini-batch";
        });
  }

  private void timed(String what, String theirs, double bar, Supplier<String> work) {
    String[] outcome = {""};
    PlannerTiming timing = PlannerTiming.of(() -> outcome[0] = work.get());
    row(what, outcome[0], theirs, bar, timing);
  }

  private void placement() {
    ReferenceNetwork gnmt = ReferenceNetwork.of("gnmt");
    if (gnmt.in(reference)) {
      bar(
          "placement, GNMT as PipeDream's authors measured it, training",
          "15.1",
          0.5,
          ScalingInputs.training(
              gnmt.on(reference, Networks.cluster("dapple-a")), gnmt.miniBatch()));
    }
    bar("placement, GNMT of the zoo, training", "15.1", 0.5, zoo("gnmt-16"));
    workload("bert24_inference", 0.0037, PlacementRequest.contiguous());
    workload("bert24_training", 0.0040, PlacementRequest.contiguous());
    workload("resnet50_training", 0.1112, PlacementRequest.contiguous());
    workload("resnet50_training", 0.0845, PlacementRequest.contiguous().linearized());
    bar("placement, Inception-v3 of the zoo, training", "not finished", 60, zoo("inception-v3"));
  }

  private static OperatorGraph zoo(String name) {
    return ScalingInputs.training(name, SAMPLES);
  }

  private void bar(String what, String theirs, double bar, OperatorGraph graph) {
    timed(
        what,
        theirs,
        bar,
        () -> outcome(PlacementPlanner.plan(graph, PlacementRequest.contiguous())));
  }

  private void workload(String name, double theirs, PlacementRequest request) {
    Path file = reference.folder().resolve("placement").resolve(name + ".json");
    if (Files.exists(file)) {
      OperatorGraph graph = PlacementJson.read(file);
      String what = "placement, " + name + (request.linearize() ? ", one order" : "");
      timed(
          what,
          Numbers.fixed(theirs, 4),
          theirs / 10,
          () -> outcome(PlacementPlanner.plan(graph, request)));
    }
  }

  private static String outcome(PlacementResult answer) {
    return answer instanceof PlacementResult.Placed placed
        ? "load "
            + Numbers.significant(placed.best().maxLoad())
            + (placed.ideals() > 0 ? ", " + placed.ideals() + " ideals" : "")
            + (placed.proven() ? "" : ", not proven")
        : answer.toString();
  }

  private void interOperator() {
    StageTable stages = ScalingInputs.stages(LAYERS);
    timed(
        "inter-operator, 32 layers × 64 devices",
        "178",
        1,
        () ->
            "latency "
                + Numbers.significant(
                    InterOperatorPlanner.plan(stages, DEVICES, MICRO_BATCHES)
                        .orElseThrow()
                        .latency()));
  }
}
