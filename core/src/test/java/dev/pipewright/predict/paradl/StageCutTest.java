package dev.pipewright.predict.paradl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.Samples;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.units.Precision;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** The cut against all others. */
class StageCutTest {
  private static ParadlNetwork network(LayerGraph graph, SplittableRandom random) {
    Profile profile = Samples.profile(random, graph.size());
    Training training = new Training(Optimizer.SGD, Precision.FP32);
    return new ParadlNetwork(
        new Workload(Chain.of(graph), profile, training, SmallNet.nodes(2, 1)), Optional.empty());
  }

  /** The least that the slowest of so many stages of the layers from {@code first} on takes. */
  private static double exhaustive(double[] layers, int first, int stages) {
    double own = 0;
    if (stages == 1) {
      for (int layer = first; layer < layers.length; layer++) {
        own += layers[layer];
      }
      return own;
    }
    double best = Double.POSITIVE_INFINITY;
    for (int end = first + 1; end <= layers.length - stages + 1; end++) {
      own += layers[end - 1];
      best = Math.min(best, Math.max(own, exhaustive(layers, end, stages - 1)));
    }
    return best;
  }

  /** First, in the middle, last, all but one; and one layer so slow that sums forget the others. */
  @RepeatedTest(value = 100, name = SmallNet.SEEDED)
  void layersWithoutTimeBelongToAStageToo(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int layers = random.nextInt(1, 11);
    List<LayerTimes> times = new ArrayList<>();
    for (int layer = 0; layer < layers; layer++) {
      double seconds = new double[] {0, 0, 0, 1, 1e9, 1e-9}[random.nextInt(6)];
      times.add(new LayerTimes(seconds, 2 * seconds, Double.NaN, 0));
    }
    times.set(random.nextInt(layers), new LayerTimes(1, 2, Double.NaN, 0));
    Profile sizes = Samples.profile(random, layers);
    Profile profile =
        new Profile(
            sizes.provenance(),
            sizes.precision(),
            IntStream.range(0, layers).mapToObj(sizes::sizes).toList(),
            List.of(1),
            List.of(times));
    Training training = new Training(Optimizer.SGD, Precision.FP32);
    Workload workload =
        new Workload(Chain.of(Samples.chain(layers)), profile, training, SmallNet.nodes(2, 1));
    for (int stages = 1; stages <= layers; stages++) {
      StageCut cut = new ParadlNetwork(workload, Optional.empty()).stages(stages);
      assertEquals(0, cut.first(0));
      assertEquals(layers, cut.end(stages - 1));
      for (int stage = 0; stage < stages; stage++) {
        assertTrue(cut.first(stage) < cut.end(stage), "stage " + stage + " is empty");
      }
    }
  }

  @RepeatedTest(value = 200, name = SmallNet.SEEDED)
  void theSlowestStageIsAsFastAsExhaustiveSearchFinds(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    ParadlNetwork network = network(Samples.chain(random.nextInt(1, 11)), random);
    double[] seconds = seconds(network);
    for (int stages = 1; stages <= Math.min(5, network.shapes().mostStages()); stages++) {
      StageCut cut = network.stages(stages);
      assertEquals(stages, cut.stages());
      assertEquals(0, cut.first(0));
      assertEquals(seconds.length, cut.end(stages - 1));
      double slowest = 0;
      for (int stage = 0; stage < stages; stage++) {
        assertTrue(cut.first(stage) < cut.end(stage), "an empty stage");
        double sum = 0;
        for (int layer = cut.first(stage); layer < cut.end(stage); layer++) {
          sum += seconds[layer];
        }
        slowest = Math.max(slowest, sum);
      }
      double best = exhaustive(seconds, 0, stages);
      assertEquals(best, slowest, 2e-9 * best);
    }
  }

  /** Of both passes of each layer. */
  private static double[] seconds(ParadlNetwork network) {
    Profile profile = network.workload().profile();
    double[] seconds = new double[network.size()];
    for (int layer = 0; layer < seconds.length; layer++) {
      LayerTimes times = profile.times(0).get(layer);
      seconds[layer] = times.forward() + times.backward();
    }
    return seconds;
  }

  /** The least sum of squares of so many stages from {@code first} on, none above a bound. */
  private static double leastSquares(double[] layers, int first, int stages, double bound) {
    double own = 0;
    double best = Double.POSITIVE_INFINITY;
    for (int end = first + 1; end <= layers.length - stages + 1; end++) {
      own += layers[end - 1];
      boolean complete = stages > 1 || end == layers.length;
      if (own <= bound && complete) {
        double rest = stages == 1 ? 0 : leastSquares(layers, end, stages - 1, bound);
        best = Math.min(best, own * own + rest);
      }
    }
    return best;
  }

  @RepeatedTest(value = 100, name = SmallNet.SEEDED)
  void evenStagesDifferLeastAmongThoseAsFast(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    ParadlNetwork network = network(Samples.chain(random.nextInt(1, 11)), random);
    double[] seconds = seconds(network);
    for (int stages = 1; stages <= Math.min(5, network.shapes().mostStages()); stages++) {
      StageCut cut = network.evenStages(stages);
      double squares = 0;
      double slowest = 0;
      for (int stage = 0; stage < stages; stage++) {
        assertTrue(cut.first(stage) < cut.end(stage), "an empty stage");
        double sum = 0;
        for (int layer = cut.first(stage); layer < cut.end(stage); layer++) {
          sum += seconds[layer];
        }
        squares += sum * sum;
        slowest = Math.max(slowest, sum);
      }
      double best = exhaustive(seconds, 0, stages);
      assertEquals(best, slowest, 2e-9 * best);
      double least = leastSquares(seconds, 0, stages, best * (1 + 3e-9));
      assertEquals(least, squares, 1e-8 * least);
    }
  }

  @RepeatedTest(value = 50, name = SmallNet.SEEDED)
  void stagesOfABranchingNetworkFollowEachOther(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    ParadlNetwork network = network(Samples.branching(random), random);
    Chain chain = network.workload().chain();
    for (int stages = 1; stages <= network.shapes().mostStages(); stages++) {
      StageCut cut = network.stages(stages);
      int layers = 0;
      for (int stage = 0; stage < stages; stage++) {
        int after = cut.costs().inChain(cut.first(stage)) - 1;
        int last = cut.costs().inChain(cut.end(stage)) - 1;
        assertTrue(
            after < 0 || chain.precedes(after, last), "a branch crosses the border of a stage");
        layers += chain.layers(after, last).length;
      }
      assertEquals(network.size(), layers, "each layer is in one stage");
    }
  }

  @Test
  void theInputAloneIsNoStage() {
    Workload workload =
        SmallNet.input(3, 8, 8)
            .convolution(4, 3, 1, 1)
            .relu()
            .connected(10)
            .on(SmallNet.nodes(1, 1), 3);
    ParadlNetwork network = new ParadlNetwork(workload, Optional.empty());
    assertEquals(3, network.shapes().mostStages());
    StageCut cut = network.stages(3);
    assertEquals(List.of(2, 3, 4), List.of(cut.end(0), cut.end(1), cut.end(2)));
  }
}
