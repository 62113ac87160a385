package dev.pipewright.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Link;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class AllReduceTest {
  private static final double DUST = 1e-12;
  private static final Link FAST = Link.of(1, 8);
  private static final Link SLOW = Link.of(3, 2);
  private static final Link SLOWEST = Link.of(5, 1);

  private static AllReduce over(Cluster cluster, int... devices) {
    return AllReduce.over(cluster, devices);
  }

  @Test
  void oneDeviceHasNobodyToSumWith() {
    AllReduce alone = over(Samples.plain(List.of(FAST), 4), 2);
    assertEquals(0, alone.seconds(1e9));
    assertEquals(0, AllReduce.NONE.seconds(1e9));
  }

  @Test
  void nothingToSumTakesNoTime() {
    assertEquals(0, over(Samples.plain(List.of(FAST), 4), 0, 1, 2).seconds(0));
  }

  @Test
  void aRingPassesEverySliceTwice() {
    // 2(p-1)(α + (m/p)β) for p = 4, m = 64
    assertEquals(
        2 * 3 * (1 + 16 / 8.0), over(Samples.plain(List.of(FAST), 4), 0, 1, 2, 3).ringSeconds(64));
  }

  @Test
  void aRingOrTreePaysTheSlowestLevelThatItCrosses() {
    Cluster cluster = Samples.plain(List.of(FAST, SLOW, SLOWEST), 2, 2, 2);
    assertEquals(2 * (1 + 32 / 8.0), over(cluster, 2, 3).ringSeconds(64));
    assertEquals(2 * (3 + 32 / 2.0), over(cluster, 1, 2).ringSeconds(64));
    assertEquals(4 * (3 + 64 / 3.0 / 2), over(cluster, 0, 1, 2).ringSeconds(64), DUST);
    assertEquals(6 * (5 + 16 / 1.0), over(cluster, 0, 1, 2, 4).ringSeconds(64));
  }

  @RepeatedTest(value = 100, name = "seed {currentRepetition}")
  void aTreeUsesTheBestNumberOfChunks(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int members = random.nextInt(2, 40);
    Link link = Link.of(random.nextDouble(0.01, 2), random.nextDouble(0.5, 5));
    double bytes = Samples.skewed(random, 2000);
    int depth = 0;
    while (1 << depth < members) {
      depth++;
    }
    double best = Double.POSITIVE_INFINITY;
    for (int k = 1; k < 4000; k++) {
      double chunk = bytes / (2 * k);
      best = Math.min(best, 2 * (depth + k) * link.seconds(chunk));
    }
    int[] all = IntStream.range(0, members).toArray();
    AllReduce tree = AllReduce.over(Samples.plain(List.of(link), members), all);
    assertEquals(best, tree.treeSeconds(bytes), 1e-9 * best);
  }

  @Test
  void aTreeOfFreeMessagesMovesTheMessageOnce() {
    AllReduce free = over(Samples.plain(List.of(Link.of(0, 4)), 8), 0, 1, 2, 3, 4);
    assertEquals(25, free.treeSeconds(100));
    assertEquals(25, free.seconds(100));
  }

  @Test
  void twoLevelsSumInsideThenAcross() {
    Cluster cluster = Samples.plain(List.of(FAST, SLOW), 4, 3);
    double inside = 2 * 3 * (1 + 60 / 4 / 8.0);
    double across = 2 * 2 * (3 + 60 / 3 / 2.0);
    int[] all = IntStream.range(0, 12).toArray();
    assertEquals(inside + across, over(cluster, all).hierarchicalSeconds(60), DUST);
  }

  @Test
  void threeLevelsSumAtEveryLevelThatIsCrossed() {
    Cluster cluster = Samples.plain(List.of(FAST, SLOW, SLOWEST), 2, 2, 2);
    double pairs = 2 * (1 + 30 / 8.0);
    double racks = 2 * (3 + 30 / 2.0);
    double all = 2 * (5 + 30 / 1.0);
    assertEquals(
        pairs + racks + all, over(cluster, 0, 1, 2, 3, 4, 5, 6, 7).hierarchicalSeconds(60), DUST);
    assertEquals(all, over(cluster, 1, 6).hierarchicalSeconds(60), DUST);
    assertEquals(pairs + all, over(cluster, 0, 1, 6).hierarchicalSeconds(60), DUST);
    assertEquals(racks + all, over(cluster, 0, 3, 6).hierarchicalSeconds(60), DUST);
  }

  @Test
  void theFullestGroupSetsThePace() {
    var levels = Samples.levels(new SplittableRandom(1), 3);
    Cluster cluster = Samples.racks(levels, new int[] {1, 3}, new int[] {1, 1});
    Link inside = levels.get(0).collective();
    Link across = levels.get(2).collective(); // one machine per rack: nothing crosses a rack
    double expected = 4 * inside.seconds(9e6 / 3) + 2 * across.seconds(9e6 / 2);
    assertEquals(expected, over(cluster, 0, 1, 2, 3).hierarchicalSeconds(9e6), 1e-9 * expected);
  }

  @RepeatedTest(value = 100, name = "seed {currentRepetition}")
  void theCheapestWayIsTaken(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    Cluster cluster = Samples.plain(List.of(FAST, SLOW), 3, 4);
    int[] set = random.ints(5, 0, 12).distinct().sorted().toArray();
    AllReduce sum = AllReduce.over(cluster, set);
    double bytes = Samples.skewed(random, 1000);
    double least =
        Math.min(
            sum.ringSeconds(bytes),
            Math.min(sum.treeSeconds(bytes), sum.hierarchicalSeconds(bytes)));
    assertEquals(set.length == 1 ? 0 : least, sum.seconds(bytes));
  }

  @RepeatedTest(value = 100, name = "seed {currentRepetition}")
  void noSetOfDevicesIsFasterThanTheirNumberAtBest(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int[] racks = {1, 2};
    int[] machines = {random.nextInt(1, 4), random.nextInt(1, 4), random.nextInt(1, 4)};
    Cluster cluster = Samples.racks(Samples.levels(random, 3), machines, racks);
    for (int set = 1; set < 1 << cluster.size(); set++) {
      int bits = set;
      int[] members =
          IntStream.range(0, cluster.size()).filter(d -> (bits & 1 << d) != 0).toArray();
      double bytes = Samples.skewed(random, 1e8);
      double seconds = AllReduce.over(cluster, members).seconds(bytes);
      double bound = AllReduce.atBest(cluster, members.length).seconds(bytes);
      assertTrue(bound <= seconds * (1 + DUST), () -> bound + " > " + seconds);
    }
  }

  @Test
  void atBestIsWhatTheDensestSetReachesOnAnOrdinaryCluster() {
    Cluster cluster = Samples.plain(List.of(Link.of(1e-5, 1e11), Link.of(5e-5, 3e9)), 8, 4);
    for (int devices : new int[] {2, 4, 8, 16, 32}) {
      double real = AllReduce.over(cluster, IntStream.range(0, devices).toArray()).seconds(1e8);
      assertEquals(real, AllReduce.atBest(cluster, devices).seconds(1e8), 0.05 * real);
    }
  }
}
