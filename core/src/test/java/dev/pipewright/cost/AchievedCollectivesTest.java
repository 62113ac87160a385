package dev.pipewright.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** Collectives as libraries run them: over all ports, at less than the rate. */
class AchievedCollectivesTest {
  private static final double DUST = 1e-12;
  private static final double BYTES = 960;

  /** Nodes of four devices, links within a node so fast that only the network counts. */
  private static Cluster nodes(int nodes, double ports, double achieved) {
    Link inside = Link.of(0, 1e9);
    Link network = Link.of(0, 2);
    return Cluster.uniform(
        "nodes",
        Samples.kind("device", 1, 1),
        List.of(
            new Level("node", inside, inside),
            new Level("cluster", network, network, ports, achieved)),
        4,
        nodes);
  }

  private static int[] run(int first, int step, int count) {
    return IntStream.range(0, count).map(i -> first + i * step).toArray();
  }

  private static double ring(int members, double secondsPerByte) {
    return 2 * (members - 1) * BYTES / members * secondsPerByte;
  }

  @Test
  void aGroupOfWholeNodesUsesAllPorts() {
    Collectives all = Collectives.achieved(nodes(3, 2, 1), run(0, 1, 12));
    assertEquals(ring(12, 0.5 / 2), all.ringAllReduce(BYTES), DUST);
    assertEquals(1, all.contention());
  }

  @Test
  void aGroupWithOneDeviceInEachNodeUsesOnePort() {
    Collectives leaders = Collectives.achieved(nodes(3, 2, 1), run(0, 4, 3));
    assertEquals(ring(3, 0.5), leaders.ringAllReduce(BYTES), DUST);
  }

  @Test
  void fourGroupsAcrossNodesShareTwoPorts() {
    int[][] groups = {run(0, 4, 3), run(1, 4, 3), run(2, 4, 3), run(3, 4, 3)};
    Collectives peers = Collectives.achieved(nodes(3, 2, 1), groups);
    assertEquals(2, peers.contention());
    assertEquals(ring(3, 0.5 * 2), peers.ringAllReduce(BYTES), DUST);
  }

  @Test
  void twoGroupsOfWholeNodesNeverMeet() {
    int[][] groups = {run(0, 1, 8), run(8, 1, 8)};
    Collectives pairs = Collectives.achieved(nodes(4, 2, 1), groups);
    assertEquals(ring(8, 0.5 / 2), pairs.ringAllReduce(BYTES), DUST);
  }

  @Test
  void linksThatSustainHalfOfTheirRateTakeTwiceAsLong() {
    double full = Collectives.achieved(nodes(3, 2, 1), run(0, 1, 12)).ringAllReduce(BYTES);
    double half = Collectives.achieved(nodes(3, 2, 0.5), run(0, 1, 12)).ringAllReduce(BYTES);
    assertEquals(2 * full, half, DUST);
  }

  @Test
  void onPaperNothingOfThatHappens() {
    Collectives all = Collectives.over(nodes(3, 2, 0.5), run(0, 1, 12));
    assertEquals(ring(12, 0.5), all.ringAllReduce(BYTES), DUST);
  }

  @Test
  void aSingleMessageLeavesThroughOnePort() {
    Collectives all = Collectives.achieved(nodes(3, 2, 1), run(0, 1, 12));
    assertEquals(BYTES / 2, all.pointToPoint(BYTES), DUST);
  }

  @RepeatedTest(value = 200, name = "seed {currentRepetition}")
  void noSetIsFasterThanTheBest(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    double ports = random.nextInt(1, 6) / 1.5;
    Cluster cluster = nodes(random.nextInt(1, 6), ports, 1 - random.nextDouble(0.5));
    int[] members = IntStream.range(0, cluster.size()).filter(i -> random.nextInt(3) > 0).toArray();
    if (members.length < 2) {
      return;
    }
    Collectives best = Collectives.atBest(cluster, members.length);
    Collectives real = Collectives.achieved(cluster, members);
    assertTrue(best.allReduce(BYTES) <= real.allReduce(BYTES) * (1 + DUST));
    assertTrue(best.ringAllGather(BYTES) <= real.ringAllGather(BYTES) * (1 + DUST));
    assertTrue(best.pointToPoint(BYTES) <= real.pointToPoint(BYTES) * (1 + DUST));
  }
}
