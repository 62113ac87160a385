package dev.pipewright.predict.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Collectives;
import dev.pipewright.cost.PartShares;
import dev.pipewright.cost.PartTimes;
import dev.pipewright.cost.Roofline;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.exchange.GroupExchange;
import dev.pipewright.exchange.GroupExchanges;
import dev.pipewright.exchange.ShardedParameters;
import dev.pipewright.execution.Emulation.LayerSeconds;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Training;
import dev.pipewright.parallel.CutRegion;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.parallel.Reduction;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.Recompute;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.units.Precision;
import dev.pipewright.zoo.Clusters;
import dev.pipewright.zoo.Models;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What stages are expected to take that divide their layers: counted by hand, and adding up over
 * stages and replicas.
 */
class ParallelismPredictionTest {
  private static final double ROUNDING = 1e-9;
  private static final int BATCH = 12;
  private static final Training TRAINING = new Training(Optimizer.MOMENTUM, Precision.FP32);

  private static Workload workload(String network, String cluster) {
    LayerGraph graph = Models.find(network).orElseThrow().graph();
    Cluster devices = Clusters.find(cluster).orElseThrow();
    return new Workload(
        Chain.of(graph),
        Roofline.profile(graph, devices, TRAINING, List.of(1, BATCH)),
        TRAINING,
        devices);
  }

  private static Assignment assignment(Workload workload, Parallelism split, int replicas) {
    StageLayers all = StageLayers.keeping(0, workload.chain().size() - 1).with(split);
    return new Assignment(
        OneForwardOneBackward.of(1, 1),
        List.of(all),
        List.of(replicas * split.parts()),
        BATCH,
        false);
  }

  private static RunPrediction runPrediction(Workload workload, Parallelism split, int replicas) {
    return new RunPrediction(new StageCosts(workload), assignment(workload, split, replicas));
  }

  /** That a device reads or writes. */
  private static double bytesPerSecond(Workload workload) {
    return 0.7 * workload.cluster().device(0).memoryBandwidth().value();
  }

  private static double computing(RunPrediction runPrediction) {
    return runPrediction.layers().layers().stream()
        .mapToDouble(layer -> layer.forward() + layer.backward())
        .sum();
  }

  /**
   * Filters gather what a product makes and sum the gradient of what it reads, channels the other
   * way round from the second product on (ParaDL §3.3, §3.4); each worker joins the parts, or
   * copies what is summed.
   */
  @ParameterizedTest
  @CsvSource({
    "vgg-16, FILTER, 2",
    "vgg-16, CHANNEL, 2",
    "resnet-50, FILTER, 4",
    "resnet-50, CHANNEL, 4",
    "alexnet, FILTER, 3",
    "alexnet, CHANNEL, 3"
  })
  void filtersAndChannelsExchangeWhatProductsReadAndMake(String network, Kind kind, int parts) {
    Workload workload = workload(network, "dapple-b:4");
    int[] devices = IntStream.range(0, parts).toArray();
    Collectives group = Collectives.achieved(workload.cluster(), devices);
    LayerGraph graph = workload.chain().graph();
    double communication = 0;
    double moved = 0;
    boolean first = true;
    for (int layer = 0; layer < graph.size(); layer++) {
      boolean product =
          graph.layer(layer).steps().stream()
              .anyMatch(
                  step -> step instanceof Operator.Convolution || step instanceof Operator.Linear);
      if (product) {
        int from = graph.predecessors(layer)[0];
        double made = 4.0 * BATCH * graph.layer(layer).outputElements();
        double read = 4.0 * BATCH * graph.layer(from).outputElements();
        boolean filters = kind == Kind.FILTER;
        boolean forward = filters || !first;
        communication += forward ? (filters ? group.allGather(made) : group.allReduce(made)) : 0;
        communication += first ? 0 : filters ? group.allReduce(read) : group.allGather(read);
        moved += 2 * ((forward ? made : 0) + (first ? 0 : read));
        first = false;
      }
    }
    RunPrediction runPrediction = runPrediction(workload, Parallelism.of(kind, parts), 1);
    double passes = runPrediction.times().forward()[0] + runPrediction.times().input()[0];
    passes += runPrediction.times().weight()[0];
    double expected = computing(runPrediction) + communication + moved / bytesPerSecond(workload);
    assertEquals(expected, passes, ROUNDING * expected);
  }

  /**
   * Of the states of all steps, each worker joins what it gathers; of what it sums it cuts messages
   * from all, and reads, adds and writes its own part for each worker.
   */
  @Test
  void sequencesAreGatheredSummedAndPutTogether() {
    Workload workload = workload("gpt:layers=2,hidden=64,heads=4,sequence=16", "dapple-b:4");
    int last = workload.chain().size() - 1;
    Parallelism split = Parallelism.of(Kind.SEQUENCE, 2);
    Collectives pair = Collectives.achieved(workload.cluster(), new int[][] {{0, 1}});
    double communication = 0;
    double moved = 0;
    for (GroupExchange each :
        GroupExchanges.of(workload.chain(), new LayerRange(0, last), split, true)) {
      double bytes = 4.0 * each.elements(BATCH);
      boolean gathers = each.kind() == GroupExchange.Kind.GATHER;
      assertTrue(gathers || each.kind() == GroupExchange.Kind.SUM_PARTS, each.kind().name());
      communication += gathers ? pair.allGather(bytes) : pair.reduceScatter(bytes);
      moved += gathers ? 2 * bytes : 2 * bytes + 2 * 3 * (bytes / 2);
    }
    assertTrue(communication > 0);
    RunPrediction runPrediction = runPrediction(workload, split, 1);
    double passes = runPrediction.times().forward()[0] + runPrediction.times().input()[0];
    passes += runPrediction.times().weight()[0];
    double expected = computing(runPrediction) + communication + moved / bytesPerSecond(workload);
    assertEquals(expected, passes, ROUNDING * expected);
  }

  /**
   * Rows and columns: what is computed is a quarter of each map, and what windows reach over
   * besides, here one place on each side of a quarter: the other quarters' or padding. Such maps
   * are joined and padded, which reads and writes them twice in either pass, and the gradient of
   * the input is computed for all of them.
   */
  @Test
  void aQuarterOfEachMapIsComputedAndThePositionsAroundIt() {
    Workload workload = workload("vgg-16:size=256", "dapple-b:4");
    Parallelism split = new Parallelism(Kind.SPATIAL, List.of(2, 2));
    double seconds = 0;
    LayerGraph graph = workload.chain().graph();
    CutRegion region = new CutRegion(graph, split);
    PartTimes parts = new PartTimes(workload);
    PartShares quarter = new PartShares(1, 1, 0.25);
    for (int layer = 0; layer < graph.size(); layer++) {
      LayerTimes all = workload.profile().times(1).get(layer);
      double part = region.contains(layer) ? parts.share(layer, BATCH, quarter, 0) : 1;
      seconds += (all.forward() + all.backward()) * part;
      boolean reaches =
          graph.layer(layer).steps().stream().anyMatch(Operator.Convolution.class::isInstance);
      if (reaches && region.contains(layer)) {
        Shape read = graph.layer(graph.predecessors(layer)[0]).output().orElseThrow();
        double own = read.extent(1) / 2.0;
        double places = (own + 2) * (own + 2);
        double bytes = 4.0 * BATCH * read.extent(0) * places;
        double share = parts.share(layer, BATCH, quarter, 0);
        LayerTimes whole = workload.profile().times(1).get(layer);
        double input = (whole.backward() - whole.weightGradient()) * share;
        seconds += 2 * 4 * bytes / bytesPerSecond(workload) + input * (places / (own * own) - 1);
      }
    }
    assertEquals(seconds, computing(runPrediction(workload, split, 1)), ROUNDING * seconds);
  }

  /** One worker computes whole layers, and so do those that nothing is shared out to. */
  @ParameterizedTest
  @EnumSource(
      value = Kind.class,
      names = {"FILTER", "CHANNEL", "TENSOR", "SEQUENCE", "CONTEXT", "EXPERT"})
  void onePartIsTheWhole(Kind kind) {
    Workload workload = workload("gpt:layers=2,hidden=64,heads=4,sequence=16", "dapple-b:4");
    RunPrediction one = runPrediction(workload, Parallelism.of(kind, 1), 1);
    RunPrediction whole = runPrediction(workload, Parallelism.NONE, 1);
    assertEquals(whole.predictedStepSeconds(), one.longestPath().makespan(), ROUNDING);
    assertEquals(whole.peakBytes()[0], one.peakBytes()[0]);
  }

  /** More parts compute less each, hold fewer parameters, and have more to tell. */
  @ParameterizedTest
  @CsvSource({
    "vgg-16, FILTER",
    "vgg-16, CHANNEL",
    "bert-48, TENSOR",
    "bert-48, SEQUENCE",
    "bert-48, CONTEXT",
    "mixtral-8x7b, EXPERT"
  })
  void morePartsComputeLessAndHoldLess(String network, Kind kind) {
    Workload workload = workload(network, "dapple-b:8");
    double computing = Double.POSITIVE_INFINITY;
    double held = Double.POSITIVE_INFINITY;
    for (int parts : new int[] {1, 2, 4, 8}) {
      RunPrediction runPrediction = runPrediction(workload, Parallelism.of(kind, parts), 1);
      assertTrue(computing(runPrediction) < computing, "parts " + parts);
      assertTrue(runPrediction.peakBytes()[0] < held, "parts " + parts);
      computing = computing(runPrediction);
      held = runPrediction.peakBytes()[0];
    }
  }

  /** Computed again is told again. */
  @Test
  void recomputationRepeatsTheForwardPassAndWhatIsToldInIt() {
    Workload workload = workload("vgg-16", "dapple-b:4");
    int last = workload.chain().size() - 1;
    Parallelism split = Parallelism.of(Kind.FILTER, 2);
    Assignment kept = assignment(workload, split, 1);
    StageLayers again =
        new StageLayers(new LayerRange(0, last), Recompute.STAGE_INPUT, List.of(), split);
    Assignment recomputed =
        new Assignment(kept.schedule(), List.of(again), kept.workers(), BATCH, false);
    StageCosts costs = new StageCosts(workload);
    double forward = new RunPrediction(costs, kept).times().forward()[0];
    double before = new RunPrediction(costs, kept).times().input()[0];
    double after = new RunPrediction(costs, recomputed).times().input()[0];
    assertEquals(before + forward, after, ROUNDING * after);
  }

  /**
   * Replicas sum their own pieces; of places everything by all, in the way that is asked for:
   * through leaders it takes longest.
   */
  @Test
  void gradientsAreSummedAsAskedFor() {
    Workload workload = workload("vgg-16", "dapple-b:8");
    double filters = reduced(workload, Parallelism.of(Kind.FILTER, 2));
    Parallelism places = new Parallelism(Kind.SPATIAL, List.of(2, 1));
    double flat = reduced(workload, places.with(Reduction.FLAT));
    double hierarchical = reduced(workload, places.with(Reduction.HIERARCHICAL));
    double leaders = reduced(workload, places.with(Reduction.LEADERS));
    assertTrue(filters < flat, "half of the numbers between half of the workers");
    assertTrue(Math.max(flat, hierarchical) < leaders, flat + " " + hierarchical + " " + leaders);
    RunPrediction alone = runPrediction(workload, Parallelism.of(Kind.FILTER, 2), 1);
    assertEquals(0, alone.times().step().reduce()[0]);
  }

  /** Half of the weights by each half of the workers, both at once. */
  @Test
  void replicasOfAPartSumWhatTheyHold() {
    Workload workload = workload("vgg-16", "dapple-b:8");
    Parallelism two = Parallelism.of(Kind.FILTER, 2);
    ShardedParameters parameters = new ShardedParameters(workload.chain().graph(), two);
    double bytes = 0;
    for (int layer = 0; layer < workload.chain().graph().size(); layer++) {
      bytes += 4.0 * parameters.most(layer);
    }
    int[][] halves = {{0, 2, 4, 6}, {1, 3, 5, 7}};
    double expected = Collectives.achieved(workload.cluster(), halves).allReduce(bytes);
    assertEquals(expected, reduced(workload, two), ROUNDING * expected);
  }

  private static double reduced(Workload workload, Parallelism split) {
    return runPrediction(workload, split, 4).times().step().reduce()[0];
  }

  /** A stage that is not split takes what it took; one that is, less. */
  @Test
  void stagesAreSplitEachForItself() {
    Workload workload = workload("vgg-16", "dapple-b:8");
    StageCosts costs = new StageCosts(workload);
    int last = workload.chain().size() - 1;
    List<StageLayers> whole =
        List.of(StageLayers.keeping(0, last / 2), StageLayers.keeping(last / 2 + 1, last));
    List<StageLayers> split = new ArrayList<>(whole);
    split.set(0, whole.get(0).with(Parallelism.of(Kind.FILTER, 2)));
    var schedule = OneForwardOneBackward.of(2, 4);
    RunPrediction before =
        new RunPrediction(
            costs, new Assignment(schedule, whole, Collections.nCopies(2, 1), BATCH, false));
    RunPrediction after =
        new RunPrediction(costs, new Assignment(schedule, split, List.of(2, 1), BATCH, false));
    assertEquals(before.times().forward()[1], after.times().forward()[1]);
    assertEquals(before.peakBytes()[1], after.peakBytes()[1]);
    assertTrue(seconds(after, whole.get(0)) < seconds(before, whole.get(0)));
    assertTrue(after.simulatedStepSeconds() > 0);
  }

  private static double seconds(RunPrediction runPrediction, StageLayers stage) {
    return runPrediction.layers().seconds(stage.range(), LayerSeconds::backward);
  }
}
