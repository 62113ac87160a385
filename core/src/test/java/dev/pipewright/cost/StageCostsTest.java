package dev.pipewright.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Link;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.profile.LayerMemory;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.units.Precision;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class StageCostsTest {
  private static final String SEEDED = "seed {currentRepetition}";

  private static LayerGraph graph(SplittableRandom random) {
    return random.nextBoolean() ? Samples.chain(random.nextInt(1, 8)) : Samples.branching(random);
  }

  private static double sum(double[] perLayer, int[] layers) {
    return Arrays.stream(layers).mapToDouble(layer -> perLayer[layer]).sum();
  }

  @RepeatedTest(value = 100, name = SEEDED)
  void aStageCostsTheSumOfItsLayers(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    StageCosts costs = Samples.costs(random, graph(random), 12);
    Chain chain = costs.workload().chain();
    Profile profile = costs.workload().profile();
    for (int first = 0; first < costs.size(); first++) {
      for (int end = first + 1; end <= costs.size(); end++) {
        if (first > 0 && !chain.precedes(first - 1, end - 1)) {
          continue;
        }
        int[] layers = chain.layers(first - 1, end - 1);
        int slice = random.nextInt(1, 20);
        double[] forward = costs.forwardSeconds(slice);
        double[] backward = costs.backwardSeconds(slice);
        near(sum(profile.seconds(Quantity.FORWARD, slice), layers), forward[end] - forward[first]);
        near(
            sum(profile.seconds(Quantity.BACKWARD, slice), layers),
            backward[end] - backward[first]);
        double parameters = sum(profile.parameterBytes(), layers);
        near(parameters, costs.parameterBytes()[end] - costs.parameterBytes()[first]);
        near(2 * parameters, costs.staticBytes(first, end)); // SGD: weight and gradient
        double kept = sum(profile.keptBytes(), layers) * slice;
        double input = costs.cutBytes()[first] * slice;
        near(kept + input, costs.heldBytes(first, end, slice));
        near(kept, costs.recomputedBytes(first, end, slice));
        near(input, costs.inputBytes(first, slice));
      }
    }
  }

  private static void near(double expected, double actual) {
    assertEquals(expected, actual, 1e-7 * (1 + expected)); // differences of sums of millions
  }

  /** A branch may cost less than the one before it in the chain's order. */
  @RepeatedTest(value = 100, name = SEEDED)
  void positionsAddUpToTheLongestOfBranches(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    StageCosts costs = Samples.costs(random, graph(random), 12);
    int slice = random.nextInt(1, 20);
    LayerCosts layers = costs.layers(0, costs.size(), slice);
    double forward = Arrays.stream(costs.forwardSeconds(slice)).max().orElseThrow();
    double backward = Arrays.stream(costs.backwardSeconds(slice)).max().orElseThrow();
    near(forward, layers.forwardSeconds(0, layers.size() - 1));
    near(forward + backward, layers.seconds());
  }

  @RepeatedTest(value = 50, name = SEEDED)
  void aCutPaysForEveryOutputThatIsReadBeyondIt(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    StageCosts costs = Samples.costs(random, graph(random), 12);
    Chain chain = costs.workload().chain();
    double[] output = costs.workload().profile().outputBytes();
    assertEquals(0, costs.cutBytes()[0]);
    for (int end = 1; end < costs.size(); end++) {
      List<Integer> before = Arrays.stream(chain.layers(-1, end - 1)).boxed().toList();
      double bytes = 0;
      for (int layer : before) {
        boolean readBeyond =
            Arrays.stream(chain.graph().successors(layer)).anyMatch(s -> !before.contains(s));
        bytes += readBeyond ? output[layer] : 0;
      }
      near(bytes, costs.cutBytes()[end]);
    }
  }

  @RepeatedTest(value = 100, name = SEEDED)
  void noSliceIsCheaperForASampleThanTheCheapest(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    StageCosts costs = Samples.costs(random, Samples.chain(random.nextInt(1, 8)), 12);
    int samples = random.nextInt(1, 30);
    double[] cheapest = costs.cheapestSecondsPerSample(samples);
    double[] best = new double[costs.size()];
    Arrays.fill(best, Double.POSITIVE_INFINITY);
    for (int slice = 1; slice <= samples; slice++) {
      double[] forward = costs.forwardSeconds(slice);
      double[] backward = costs.backwardSeconds(slice);
      for (int i = 0; i < best.length; i++) {
        double both = forward[i + 1] - forward[i] + backward[i + 1] - backward[i];
        best[i] = Math.min(best[i], both / slice);
      }
    }
    for (int i = 0; i < best.length; i++) {
      double bound = cheapest[i + 1] - cheapest[i];
      near(best[i], bound); // reached by some slice, undercut by none
    }
  }

  @Test
  void theLargestSliceIsRoundedUp() {
    assertEquals(1, StageCosts.slice(1, 1));
    assertEquals(2, StageCosts.slice(4, 3));
    assertEquals(2, StageCosts.slice(6, 3));
    assertEquals(3, StageCosts.slice(7, 3));
  }

  @RepeatedTest(value = 100, name = SEEDED)
  void memoryHoldsInputsOrEverythingAsRecomputationSays(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    StageCosts costs = Samples.costs(random, Samples.chain(random.nextInt(2, 8)), 12);
    Profile profile = costs.workload().profile();
    int cut = random.nextInt(1, costs.size());
    int microBatch = random.nextInt(1, 9);
    for (Recompute recompute : Recompute.values()) {
      boolean again = recompute != Recompute.NONE;
      List<LayerRange> runs = // all layers in one run are the whole stage
          recompute == Recompute.SELECTIVE
              ? List.of(new LayerRange(cut, costs.size() - 1))
              : List.of();
      List<StagePlan> stages =
          List.of(
              new StagePlan(0, cut - 1, List.of(0), Recompute.NONE, 2),
              new StagePlan(cut, costs.size() - 1, List.of(1), recompute, 3, runs));
      PipelinePlan plan = new PipelinePlan(PipelinePolicy.A, 4, microBatch, 1, false, stages);
      var stage = CostModel.PIPEWRIGHT.oracle(costs).assess(plan).stages().get(1);
      double kept = 0;
      double parameters = 0;
      for (int layer = cut; layer < costs.size(); layer++) {
        kept += profile.sizes(layer).kept() * microBatch;
        parameters += profile.sizes(layer).parameters();
      }
      double input = profile.sizes(cut - 1).output() * microBatch;
      double last = recompute == Recompute.EXCEPT_LAST ? kept : 0; // beside one that runs again
      double peak = 2 * parameters + (again ? 3 * input + kept + last : 3 * (input + kept));
      assertEquals(peak, stage.memory().peakBytes(), 1e-9 * (1 + peak));
      double[] forward = profile.seconds(Quantity.FORWARD, microBatch);
      double[] backward = profile.seconds(Quantity.BACKWARD, microBatch);
      double seconds = 0;
      for (int layer = cut; layer < costs.size(); layer++) {
        seconds += backward[layer] + (again ? forward[layer] : 0);
      }
      double messages = costs.messageSeconds(cut, costs.size(), microBatch);
      near(seconds * costs.slowdown(1) + messages, stage.backwardSeconds());
    }
  }

  @Test
  void theSmallestMemoryAndTheSlowestDeviceOfAStageCount() {
    SplittableRandom random = new SplittableRandom(1);
    var links = Samples.levels(random, 1);
    var fast = Samples.kind("k", 1000, 1e12);
    var slow = Samples.kind("slow", 700, 0.5e12);
    Cluster cluster = new Cluster("c", List.of(fast, slow), links, List.of(List.of(2)));
    Profile profile = profileOf("k");
    StageCosts costs = costs(profile, cluster);
    assertEquals(1, costs.slowdown(0));
    assertEquals(2, costs.slowdown(1));
    assertEquals(1, costs.fastest());
    PipelinePlan plan =
        new PipelinePlan(
            PipelinePolicy.A,
            1,
            2,
            1,
            false,
            List.of(new StagePlan(0, 0, List.of(1, 0), Recompute.NONE, 1)));
    var stage = CostModel.PIPEWRIGHT.oracle(costs).assess(plan).stages().get(0);
    assertEquals(700, stage.memory().capacity().value());
    assertEquals(2 * profile.seconds(Quantity.FORWARD, 1)[0], stage.forwardSeconds());
    assertEquals(0.5, costs(profileOf("slow"), cluster).slowdown(0));
  }

  @Test
  void theHungriestLayerCountsInEveryStageWhereTheProfileSaysWhatLayersNeed() {
    Profile silent = Samples.profile(new SplittableRandom(4), 3);
    List<List<LayerMemory>> memory = new ArrayList<>();
    for (int batch : silent.samples()) {
      memory.add(
          List.of(
              new LayerMemory(10 * batch, 0, 0),
              new LayerMemory(90 * batch, 0, 0),
              new LayerMemory(50 * batch, 0, 0)));
    }
    Profile saying =
        new Profile(
            silent.provenance(),
            silent.precision(),
            IntStream.range(0, 3).mapToObj(silent::sizes).toList(),
            silent.samples(),
            IntStream.range(0, silent.samples().size()).mapToObj(silent::times).toList(),
            memory);
    Cluster cluster = Samples.plain(List.of(Link.of(0, 1000)), 2);
    var training = new Training(Optimizer.SGD, Precision.FP32);
    Chain chain = Chain.of(Samples.chain(3));
    StageCosts without = new StageCosts(new Workload(chain, silent, training, cluster));
    StageCosts with = new StageCosts(new Workload(chain, saying, training, cluster));
    assertEquals(0, without.workingBytes(2));
    assertEquals(180, with.workingBytes(2), 1e-9);
    var stages =
        List.of(
            new StagePlan(0, 0, List.of(0), Recompute.NONE, 2),
            new StagePlan(1, 2, List.of(1), Recompute.STAGE_INPUT, 1));
    PipelinePlan plan = new PipelinePlan(PipelinePolicy.A, 2, 2, 1, false, stages);
    for (int stage = 0; stage < 2; stage++) {
      double less = memory(without, plan, stage).peakBytes();
      assertEquals(less + 180, memory(with, plan, stage).peakBytes(), 1e-9 * less);
    }
  }

  private static StageCost.StageMemory memory(StageCosts costs, PipelinePlan plan, int stage) {
    return CostModel.PIPEWRIGHT.oracle(costs).assess(plan).stages().get(stage).memory();
  }

  private static Profile profileOf(String device) {
    int seed = 0;
    Profile profile;
    do {
      profile = Samples.profile(new SplittableRandom(++seed), 1);
    } while (!profile.provenance().device().equals("k"));
    var source = new dev.pipewright.profile.Provenance("test", device, "", false);
    return new Profile(
        source, Precision.FP32, List.of(profile.sizes(0)), List.of(1), List.of(profile.times(0)));
  }

  private static StageCosts costs(Profile profile, Cluster cluster) {
    var training = new Training(Optimizer.SGD, Precision.FP32);
    return new StageCosts(new Workload(Chain.of(Samples.chain(1)), profile, training, cluster));
  }

  @Test
  void plansForAnotherModelOrClusterAreRefused() {
    StageCosts costs = Samples.costs(new SplittableRandom(3), Samples.chain(3), 4);
    Oracle oracle = CostModel.PIPEWRIGHT.oracle(costs);
    assertTrue(refusal(oracle, 1, 0).contains("plan covers 2, model has 3"));
    assertTrue(refusal(oracle, 2, 99).contains("device 99 is not in the cluster"));
  }

  private static String refusal(Oracle oracle, int last, int device) {
    var stage = new StagePlan(0, last, List.of(device), Recompute.NONE, 1);
    PipelinePlan plan = new PipelinePlan(PipelinePolicy.A, 1, 1, 1, false, List.of(stage));
    return String.valueOf(
        assertThrows(IllegalArgumentException.class, () -> oracle.assess(plan)).getMessage());
  }
}
