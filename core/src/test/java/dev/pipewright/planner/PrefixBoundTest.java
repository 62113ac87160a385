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

  /** Prices of stages without a slowdown. */
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

  @RepeatedTest(value = 200, name = "seed {currentRepetition}")
  void neverExceedsWhatTheBestPrefixCosts(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    StageCosts costs = costs(random);
    int unit = random.nextInt(1, 3);
    double[] even = costs.cheapestSecondsPerSample(WAVE);
    for (int i = 0; i < even.length; i++) {
      even[i] *= WAVE;
    }
    Truth truth = new Truth(costs, unit, new HashMap<>());
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
  private record Truth(StageCosts costs, int unit, Map<Integer, List<Collectives>> sets) {
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
        double[] seconds = new Plain(costs).seconds(devices);
        for (int first = end - 1; first >= 0; first--) {
          if (first > 0 && !chain.precedes(first - 1, end - 1)) {
            continue;
          }
          double stage = seconds[end] - seconds[first];
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
