package dev.pipewright.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Link;
import dev.pipewright.cluster.Software;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class GradientOverlapTest {
  private static final String SEEDED = "seed {currentRepetition}";

  @RepeatedTest(value = 100, name = SEEDED)
  void neverTakesLongerThanSummingAfterwardsNorLessThanTheFirstLayersGradient(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    StageCosts costs = Samples.costs(random, Samples.chain(random.nextInt(1, 8)), 12);
    Collectives sum = Collectives.over(costs.workload().cluster(), new int[] {0, 1});
    double[] parameters = costs.parameterBytes();
    int end = costs.size();
    double exposed = GradientOverlap.exposedSeconds(costs, 0, end, 2, 1, sum);
    double afterwards = sum.allReduce(parameters[end]);
    assertTrue(exposed <= afterwards);
    double rest = afterwards - sum.allReduce(parameters[end] - parameters[1]);
    assertTrue(exposed >= rest * (1 - 1e-9), () -> exposed + " < " + rest);
  }

  @RepeatedTest(value = 100, name = SEEDED)
  void onALinkWithoutLatencyEachLayersGradientGoesOutInTurn(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    StageCosts costs = Samples.costs(random, Samples.chain(random.nextInt(1, 8)), 12);
    int members = random.nextInt(2, 5);
    double rate = random.nextDouble(1e5, 1e7);
    int[] all = IntStream.range(0, members).toArray();
    var cluster = Samples.plain(List.of(Link.of(0, rate)), members);
    Collectives sum = Collectives.over(cluster, all);
    double perByte = sum.allReduce(1e6) / 1e6;
    double slowdown = random.nextDouble(0.5, 2);
    double[] backward = costs.backwardSeconds(1);
    double[] parameters = costs.parameterBytes();
    double now = 0;
    double network = 0;
    for (int layer = costs.size() - 1; layer >= 0; layer--) {
      now += (backward[layer + 1] - backward[layer]) * slowdown;
      network = Math.max(network, now) + (parameters[layer + 1] - parameters[layer]) * perByte;
    }
    double exposed = GradientOverlap.exposedSeconds(costs, 0, costs.size(), 1, slowdown, sum);
    assertEquals(network - now, exposed, 1e-9 * (1 + network));
  }

  @RepeatedTest(value = 20, name = SEEDED)
  void whatIsHiddenCostsComputingWhatDoesNotOverlap(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    StageCosts free = Samples.costs(random, Samples.chain(random.nextInt(1, 8)), 12);
    double overlap = random.nextDouble();
    StageCosts costs = with(free, overlap);
    Collectives sum = Collectives.over(free.workload().cluster(), new int[] {0, 1});
    double exposed = GradientOverlap.exposedSeconds(free, 0, free.size(), 2, 1, sum);
    double hidden = sum.allReduce(free.parameterBytes()[free.size()]) - exposed;
    assertEquals(
        exposed + (1 - overlap) * hidden,
        GradientOverlap.exposedSeconds(costs, 0, free.size(), 2, 1, sum),
        1e-12 * (1 + exposed + hidden));
  }

  private static StageCosts with(StageCosts free, double overlap) {
    Workload of = free.workload();
    return new StageCosts(
        new Workload(
            of.chain(),
            of.profile(),
            of.training(),
            of.cluster().withSoftware(Software.IDEAL.withOverlap(overlap))));
  }

  @Test
  void oneDeviceHasNothingToExpose() {
    StageCosts costs = Samples.costs(new SplittableRandom(1), Samples.chain(3), 4);
    assertEquals(0, GradientOverlap.exposedSeconds(costs, 0, 3, 1, 1, Collectives.NONE));
  }
}
