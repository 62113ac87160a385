package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Collectives;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.units.Precision;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;

class PrefixBoundTest {
  private static final int WAVE = 6;
  private static final double NO_LIMIT = Double.POSITIVE_INFINITY;

  /** Seven devices or more, so that a stage may take some of several machines. */
  private static Cluster cluster(SplittableRandom random) {
    var three = Samples.levels(random, 3);
    return switch (random.nextInt(5)) {
      case 0 -> Samples.racks(three, new int[] {1, 4, 2, 1}, new int[] {1, 2, 1});
      case 1 -> Samples.racks(three, new int[] {2, 1, 3, 1}, new int[] {1, 3});
      case 2 -> Samples.plain(three.stream().map(level -> level.collective()).toList(), 2, 2, 2);
      case 3 -> Samples.plain(three.subList(0, 2).stream().map(l -> l.collective()).toList(), 4, 2);
      default -> Samples.plain(three.subList(0, 1).stream().map(l -> l.collective()).toList(), 7);
    };
  }

  private static StageCosts costs(SplittableRandom random) {
    LayerGraph graph =
        random.nextBoolean() ? Samples.chain(random.nextInt(1, 6)) : Samples.branching(random);
    var profile = Samples.profile(random, graph.size());
    var training = new Training(Optimizer.SGD, Precision.FP32);
    return new StageCosts(new Workload(Chain.of(graph), profile, training, cluster(random)));
  }

  /** Prices of stages without a slowdown that never recompute. */
  private record Plain(StageCosts costs) implements PrefixBound.Prices {
    @Override
    public double[] seconds(int devices) {
      int slice = StageCosts.slice(WAVE, devices);
      double[] forward = costs.forwardSeconds(slice);
      double[] both = costs.backwardSeconds(slice).clone();
      for (int i = 0; i < both.length; i++) {
        both[i] += forward[i];
      }
      return both;
    }

    @Override
    public boolean allows(int devices) {
      return devices <= WAVE;
    }

    @Override
    public boolean sums() {
      return true;
    }

    @Override
    public int repeats() {
      return 1;
    }
  }

  /** The same where stages of more than a few layers do not fit and many recompute. */
  private record Recomputing(Plain plain, int most, long seed) implements PrefixBound.Prices {
    @Override
    public double[] seconds(int devices) {
      return plain.seconds(devices);
    }

    @Override
    public int earliest(int end) {
      return Math.max(0, end - most);
    }

    @Override
    public double again(int first, int end, int devices) {
      SplittableRandom random = new SplittableRandom(seed + 100L * first + 10L * end + devices);
      double[] seconds = seconds(devices);
      return switch (random.nextInt(4)) {
        case 0 -> Double.POSITIVE_INFINITY;
        case 1 -> 0;
        default -> random.nextDouble() * Math.abs(seconds[end] - seconds[first]);
      };
    }

    @Override
    public boolean allows(int devices) {
      return plain.allows(devices);
    }

    @Override
    public boolean sums() {
      return plain.sums();
    }

    @Override
    public int repeats() {
      return plain.repeats();
    }
  }

  @RepeatedTest(value = 100, name = "seed {currentRepetition}")
  void recomputationAndStagesThatDoNotFitCount(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(1000 + seed.getCurrentRepetition());
    StageCosts costs = costs(random);
    double[] even = costs.cheapestSecondsPerSample(WAVE);
    Recomputing prices = new Recomputing(new Plain(costs), random.nextInt(1, 4), random.nextLong());
    Truth truth = new Truth(costs, 1, prices, new HashMap<>());
    PrefixBound bound = PrefixBound.of(costs, even, 1, prices, NO_LIMIT);
    for (int free = 1; free <= costs.workload().cluster().size(); free++) {
      for (int first = 0; first <= costs.size(); first++) {
        atMost(truth.slowest(first, free), bound.slowest(first, free));
        atMost(truth.delay(first, free), bound.delay(first, free));
      }
      if (costs.workload().chain().total()) {
        assertEquals(truth.slowest(costs.size(), free), bound.slowest(costs.size(), free), 1e-9);
      }
    }
  }

  @RepeatedTest(value = 200, name = "seed {currentRepetition}")
  void neverExceedsWhatTheBestPrefixCosts(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    StageCosts costs = costs(random);
    int unit = random.nextInt(1, 3);
    double[] even = costs.cheapestSecondsPerSample(WAVE);
    for (int i = 0; i < even.length; i++) {
      even[i] *= WAVE;
    }
    Truth truth = new Truth(costs, unit, new Plain(costs), new HashMap<>());
    PrefixBound bound = PrefixBound.of(costs, even, unit, new Plain(costs), NO_LIMIT);
    for (int first = 0; first <= costs.size(); first++) {
      for (int free = unit; free <= costs.workload().cluster().size(); free += unit) {
        atMost(truth.slowest(first, free), bound.slowest(first, free));
        atMost(truth.delay(first, free), bound.delay(first, free));
        if (first > 0 && costs.workload().chain().total()) {
          assertEquals(truth.slowest(first, free), bound.slowest(first, free), 1e-9);
        }
      }
    }
    latestLosesNoStart(random, costs, unit, truth, bound);
  }

  private static void latestLosesNoStart(
      SplittableRandom random, StageCosts costs, int unit, Truth truth, PrefixBound bound) {
    int free = unit * random.nextInt(1, costs.workload().cluster().size() / unit + 1);
    int end = random.nextInt(1, costs.size() + 1);
    double most = Samples.skewed(random, 2 * truth.slowest(costs.size(), free));
    int latest = bound.latest(end, free, most);
    for (int first = 0; first < end; first++) {
      if (first > latest) {
        assertTrue(truth.slowest(first, free) > most);
      }
      if (bound.tooLong(first, end, free, most)) {
        double[] seconds = new Plain(costs).seconds(free);
        assertFalse(
            seconds[end] - seconds[first] <= most * (1 - 1e-12) && free <= WAVE,
            "such a stage would have done");
      }
    }
  }

  private static void atMost(double truth, double bound) {
    assertTrue(bound <= truth * (1 + 1e-12), () -> "bound " + bound + " > " + truth);
  }

  /** By trying everything, all-reduces over all sets of devices included. */
  private record Truth(
      StageCosts costs, int unit, PrefixBound.Prices prices, Map<Integer, List<Collectives>> sets) {
    double slowest(int first, int free) {
      return best(first, free, false);
    }

    double delay(int first, int free) {
      return best(first, free, true);
    }

    private double best(int end, int free, boolean delay) {
      if (end == 0) {
        return 0;
      }
      double best = Double.POSITIVE_INFINITY;
      Chain chain = costs.workload().chain();
      for (int devices = unit; devices <= Math.min(free, WAVE); devices += unit) {
        double[] seconds = prices.seconds(devices);
        for (int first = end - 1; first >= prices.earliest(end); first--) {
          if (first > 0 && !chain.precedes(first - 1, end - 1)) {
            continue;
          }
          double stage = seconds[end] - seconds[first] + prices.again(first, end, devices);
          double before = best(first, free - devices, delay);
          double bytes = costs.parameterBytes()[end] - costs.parameterBytes()[first];
          best =
              Math.min(
                  best,
                  delay
                      ? stage + Math.max(allReduce(devices, bytes), before)
                      : Math.max(stage, before));
        }
      }
      return best;
    }

    private double allReduce(int devices, double bytes) {
      double best = Double.POSITIVE_INFINITY;
      for (Collectives set : sets.computeIfAbsent(devices, this::sets)) {
        best = Math.min(best, set.allReduce(bytes));
      }
      return best;
    }

    private List<Collectives> sets(int devices) {
      Cluster cluster = costs.workload().cluster();
      List<Collectives> all = new ArrayList<>();
      for (int set = 1; set < 1 << cluster.size(); set++) {
        if (Integer.bitCount(set) == devices) {
          int bits = set;
          int[] members =
              java.util.stream.IntStream.range(0, cluster.size())
                  .filter(device -> (bits & 1 << device) != 0)
                  .toArray();
          all.add(Collectives.achieved(cluster, members));
        }
      }
      return all;
    }
  }
}
