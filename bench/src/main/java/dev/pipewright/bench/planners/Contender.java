package dev.pipewright.bench.planners;

import dev.pipewright.bench.dapple.Table5;
import dev.pipewright.bench.reproduction.Networks;
import dev.pipewright.cost.CostModel;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.AutoPlanner;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.Request.Shape;
import dev.pipewright.planner.memory.Capture;
import dev.pipewright.planner.memory.Mcap;
import dev.pipewright.planner.memory.McapExact;
import dev.pipewright.planner.memory.TieBreak;
import dev.pipewright.planner.partition.BlockPartition;
import dev.pipewright.planner.partition.OnePath;
import dev.pipewright.planner.partition.UniformLayers;
import dev.pipewright.planner.partition.UniformWeights;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Function;

/**
 * A planner that others are compared with.
 *
 * @param proposals what it answers; several where it leaves the number of stages open, none where
 *     it finds nothing
 */
record Contender(String name, Function<PlannedNetwork, List<Proposal>> proposals) {
  static final String OURS = "dapple";

  static final List<Contender> ALL =
      List.of(
          new Contender(AutoPlanner.NAME, Contender::auto),
          new Contender(OURS, network -> synchronous(network, Shape.ANY, Table5.POLICIES)),
          new Contender(
              "straight copies", network -> synchronous(network, Shape.STRAIGHT, Table5.POLICIES)),
          new Contender(
              "data", network -> synchronous(network, Shape.DATA_PARALLEL, Table5.POLICIES)),
          new Contender(PipeDreamStages.NAME, PipeDreamStages::hierarchical),
          new Contender("2bw", PipeDreamStages::twoBuffers),
          new Contender("inter-operator", InterOperatorStages::of),
          new Contender(
              "dapple gpipe",
              network -> synchronous(network, Shape.ANY, List.of(PipelinePolicy.ALL))),
          new Contender("torchgpipe", Contender::blocks),
          new Contender("uniform layers", Contender::uniformLayers),
          new Contender("uniform parameters", Contender::uniformParameters),
          new Contender("mcap", Contender::mcap),
          new Contender("capture", Contender::capture),
          new Contender("1f1b*", PeriodicStages::of),
          new Contender("placement", PlacedStages::of));

  static Contender called(String name) {
    return ALL.stream().filter(one -> one.name.equals(name)).findFirst().orElseThrow();
  }

  private static List<Proposal> synchronous(
      PlannedNetwork network, Shape shape, List<PipelinePolicy> policies) {
    Request request =
        new Request(
            network.globalBatch(),
            OptionalInt.empty(),
            policies,
            Recomputation.WHERE_NEEDED,
            CostModel.PIPEWRIGHT,
            shape);
    Planning planning = Networks.plan(network.costs(), request);
    return planning.best().<Proposal>map(best -> new Proposal.Whole(best.plan())).stream().toList();
  }

  private static List<Proposal> auto(PlannedNetwork network) {
    Planning planning =
        AutoPlanner.plan(
            network.costs(),
            Request.of(network.globalBatch()),
            Networks.simulator(network.costs()),
            () -> false);
    return planning.best().<Proposal>map(best -> new Proposal.Whole(best.plan())).stream().toList();
  }

  /** torchgpipe: one device per stage, balanced by seconds. */
  private static List<Proposal> blocks(PlannedNetwork network) {
    int samples = network.miniBatch();
    double[] seconds = network.costs().workload().profile().seconds(Quantity.FORWARD, samples);
    double[] backward = network.costs().workload().profile().seconds(Quantity.BACKWARD, samples);
    for (int layer = 0; layer < seconds.length; layer++) {
      seconds[layer] += backward[layer];
    }
    int[] path = network.path();
    double[] weights = OnePath.weights(network.chain(), path, seconds);
    int stages = Math.min(network.devices(), path.length);
    return List.of(Proposal.Stages.of(places(path, BlockPartition.firsts(weights, stages)), 1));
  }

  private static List<Proposal> uniformLayers(PlannedNetwork network) {
    int[] path = network.path();
    return anyDepth(network, path, stages -> UniformLayers.firsts(path.length, stages));
  }

  private static List<Proposal> uniformParameters(PlannedNetwork network) {
    int[] path = network.path();
    double[] bytes = network.costs().workload().profile().parameterBytes();
    double[] weights = OnePath.weights(network.chain(), path, bytes);
    return anyDepth(network, path, stages -> UniformWeights.firsts(weights, stages));
  }

  /** Every number of stages that divides the devices. */
  private static List<Proposal> anyDepth(
      PlannedNetwork network, int[] path, Function<Integer, int[]> cut) {
    List<Proposal> proposals = new ArrayList<>();
    for (int stages = 1; stages <= Math.min(path.length, network.devices()); stages++) {
      if (network.devices() % stages == 0) {
        proposals.add(
            Proposal.Stages.of(places(path, cut.apply(stages)), network.devices() / stages));
      }
    }
    return proposals;
  }

  /** From positions of the path to positions of the chain; a stage begins after the one before. */
  private static int[] places(int[] path, int[] firsts) {
    int[] places = firsts.clone();
    for (int stage = 1; stage < places.length; stage++) {
      places[stage] = path[firsts[stage] - 1] + 1;
    }
    return places;
  }

  /** One device per stage, the fullest as empty as possible. */
  private static List<Proposal> mcap(PlannedNetwork network) {
    Mcap.Cutter exact =
        (peaks, layers, stages) -> McapExact.of(peaks, layers, stages, TieBreak.NONE);
    int most = Math.min(network.path().length, network.devices());
    return most < network.devices()
        ? List.of() // a stage for each device
        : stages(Mcap.plan(network.costs(), memoryFirst(network), exact).candidates().get(0));
  }

  /** The smallest peak that there is, whether it fits or not: recomputation comes later. */
  private static List<Proposal> capture(PlannedNetwork network) {
    return stages(
        Capture.plan(network.costs(), memoryFirst(network), new Capture.Limits(1, 1, 1), () -> true)
            .candidates()
            .get(0));
  }

  /** Tensors are not divided: synchronous plans could not say so. */
  private static Request memoryFirst(PlannedNetwork network) {
    OptionalInt samples = OptionalInt.of(network.microBatch());
    return new Request(
        network.globalBatch(),
        samples,
        List.of(PipelinePolicy.A),
        Recomputation.NEVER,
        CostModel.PIPEWRIGHT);
  }

  private static List<Proposal> stages(Candidate found) {
    PipelinePlan plan = found.plan();
    List<Integer> firsts = new ArrayList<>();
    List<List<Integer>> devices = new ArrayList<>();
    for (var stage : plan.stages()) {
      firsts.add(stage.firstLayer());
      devices.add(stage.devices());
    }
    return List.of(new Proposal.Stages(firsts, devices));
  }
}
