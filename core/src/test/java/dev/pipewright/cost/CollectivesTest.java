package dev.pipewright.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import dev.pipewright.units.BytesPerSecond;
import dev.pipewright.units.Seconds;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class CollectivesTest {
  private static final double DUST = 1e-12;
  private static final Link FAST = Link.of(1, 8);
  private static final Link SLOW = Link.of(3, 2);
  private static final Link SLOWEST = Link.of(5, 1);

  private static Collectives over(Cluster cluster, int... devices) {
    return Collectives.over(cluster, devices);
  }

  @Test
  void oneDeviceHasNobodyToSumWith() {
    Collectives alone = over(Samples.plain(List.of(FAST), 4), 2);
    assertEquals(0, alone.allReduce(1e9));
    assertEquals(0, Collectives.NONE.allReduce(1e9));
  }

  @Test
  void nothingToSumTakesNoTime() {
    assertEquals(0, over(Samples.plain(List.of(FAST), 4), 0, 1, 2).allReduce(0));
  }

  @Test
  void aRingPassesEverySliceTwice() {
    // 2(p-1)(α + (m/p)β) for p = 4, m = 64
    assertEquals(
        2 * 3 * (1 + 16 / 8.0),
        over(Samples.plain(List.of(FAST), 4), 0, 1, 2, 3).ringAllReduce(64));
  }

  @Test
  void aRingOrTreePaysTheSlowestLevelThatItCrosses() {
    Cluster cluster = Samples.plain(List.of(FAST, SLOW, SLOWEST), 2, 2, 2);
    assertEquals(2 * (1 + 32 / 8.0), over(cluster, 2, 3).ringAllReduce(64));
    assertEquals(2 * (3 + 32 / 2.0), over(cluster, 1, 2).ringAllReduce(64));
    assertEquals(4 * (3 + 64 / 3.0 / 2), over(cluster, 0, 1, 2).ringAllReduce(64), DUST);
    assertEquals(6 * (5 + 16 / 1.0), over(cluster, 0, 1, 2, 4).ringAllReduce(64));
  }

  @RepeatedTest(value = 100, name = "seed {currentRepetition}")
  void aTreeUsesTheBestNumberOfChunks(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int members = random.nextInt(2, 40);
    Link link = Link.of(random.nextDouble(0.01, 2), random.nextDouble(0.5, 5));
    double bytes = Samples.skewed(random, 2000);
    int depth = depth(members);
    double flows = members == 2 ? 1 : 2; // two children share a port
    double best = Double.POSITIVE_INFINITY;
    double published = Double.POSITIVE_INFINITY;
    for (int k = 1; k < 4000; k++) {
      double chunk = bytes / (2 * k);
      best = Math.min(best, 2 * (depth + k - 1) * link.seconds(chunk, flows));
      published = Math.min(published, 2 * (depth + k) * link.seconds(chunk));
    }
    int[] all = IntStream.range(0, members).toArray();
    Collectives tree = Collectives.over(Samples.plain(List.of(link), members), all);
    assertEquals(best, tree.treeAllReduce(bytes), 1e-9 * best);
    assertEquals(best / 2, tree.broadcast(bytes), 1e-9 * best);
    assertEquals(best / 2, tree.reduce(bytes), 1e-9 * best);
    assertEquals(published, tree.publishedTreeAllReduce(bytes), 1e-9 * published);
  }

  private static int depth(int members) {
    int depth = 0;
    while (1 << depth < members) {
      depth++;
    }
    return depth;
  }

  @RepeatedTest(value = 200, name = "seed {currentRepetition}")
  void aTreeUsesTheBestNumberOfChunksOnSeveralLevelsAndSizesOfMessages(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int inside = random.nextInt(2, 5);
    int nodes = random.nextInt(2, 5);
    List<Link> links = List.of(pieced(random), pieced(random));
    double bytes = Samples.skewed(random, 500);
    double best = Double.POSITIVE_INFINITY;
    for (int k = 1; k < 2000; k++) {
      double chunk = bytes / (2 * k);
      double step = Math.max(links.get(0).seconds(chunk, 2), links.get(1).seconds(chunk, 2));
      best = Math.min(best, 2 * (depth(inside) + depth(nodes) + k - 1) * step);
    }
    int[] all = IntStream.range(0, inside * nodes).toArray();
    Collectives tree = Collectives.over(Samples.plain(links, inside, nodes), all);
    assertEquals(best, tree.treeAllReduce(bytes), 1e-9 * best);
  }

  private static Link pieced(SplittableRandom random) {
    List<Link.Piece> small = new ArrayList<>();
    double upTo = 0;
    for (int i = random.nextInt(4); i > 0; i--) {
      upTo += Samples.skewed(random, 40) + 0.1;
      small.add(
          new Link.Piece(
              upTo,
              new Seconds(random.nextDouble(0.05, 1)),
              new BytesPerSecond(random.nextDouble(0.5, 5))));
    }
    return new Link(
        new Seconds(random.nextDouble(0.05, 2)),
        new BytesPerSecond(random.nextDouble(0.5, 5)),
        small);
  }

  @Test
  void aTreeOfFreeMessagesMovesTheMessageTwice() {
    Collectives free = over(Samples.plain(List.of(Link.of(0, 4)), 8), 0, 1, 2, 3, 4);
    assertEquals(50, free.treeAllReduce(100));
    assertEquals(25, free.publishedTreeAllReduce(100));
    assertEquals(40, free.allReduce(100));
  }

  @Test
  void aTreeSumsSmallMessagesAndARingLargeOnes() {
    Collectives group = over(Samples.plain(List.of(Link.of(1, 1)), 16), 0, 1, 2, 3, 4, 5, 6, 7);
    assertEquals(group.treeAllReduce(0.1), group.allReduce(0.1));
    assertTrue(group.treeAllReduce(0.1) < 0.5 * group.ringAllReduce(0.1));
    assertEquals(group.ringAllReduce(1000), group.allReduce(1000));
    assertTrue(group.ringAllReduce(1000) < group.treeAllReduce(1000));
  }

  @Test
  void gatheringAndScatteringAreHalfOfSumming() {
    Cluster cluster = Samples.plain(List.of(FAST, SLOW), 4, 3);
    Collectives group = over(cluster, IntStream.range(0, 12).toArray());
    assertEquals(11 * (3 + 5 / 2.0), group.ringAllGather(60));
    assertEquals(group.ringAllGather(60), group.ringReduceScatter(60));
    assertEquals(group.hierarchicalAllReduce(60), 2 * group.hierarchicalAllGather(60));
    assertEquals(group.hierarchicalAllGather(60), group.allGather(60));
    assertEquals(group.allGather(60), group.reduceScatter(60));
    assertEquals(0, group.allGather(0));
  }

  @Test
  void oneMessageTakesTheLinkBetweenTwoDevices() {
    Cluster cluster =
        new Cluster(
            "c",
            Samples.plain(List.of(FAST), 4).devices(),
            List.of(new Level("node", SLOW, FAST), new Level("cluster", SLOWEST, FAST)),
            List.of(List.of(2, 2), List.of(4)));
    assertEquals(3 + 8 / 2.0, over(cluster, 0, 1).pointToPoint(8));
    assertEquals(5 + 8 / 1.0, over(cluster, 0, 1, 2).pointToPoint(8));
    assertEquals(0, over(cluster, 0, 1).pointToPoint(0));
  }

  // Several groups

  private static Cluster ported(double ports, int... fanouts) {
    List<Level> levels = new ArrayList<>();
    for (int fanout : fanouts) {
      levels.add(new Level("level" + fanout, SLOW, SLOW, ports));
    }
    return Cluster.uniform("ported", Samples.kind("k", 1L << 40, 1e12), levels, fanouts);
  }

  @Test
  void fourRingsOnTwoNetworkCardsContendTwice() { // ParaDL: data + filter, four devices a node
    Cluster cluster = ported(2, 4, 2);
    int[][] groups = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};
    Collectives rings = Collectives.over(cluster, groups);
    assertEquals(2, rings.contention());
    assertEquals(1, rings.contention(0));
    assertEquals(2, rings.contention(1));
    assertEquals(2, rings.members());
    assertEquals(2 * SLOW.seconds(50, 2), rings.ringAllReduce(100));
    Collectives one = Collectives.over(cluster, new int[][] {{0, 4}});
    assertEquals(1, one.contention());
    assertEquals(2 * SLOW.seconds(50), one.ringAllReduce(100));
  }

  @Test
  void groupsContendOnlyWhereTheirRingsMeet() {
    Cluster cluster = ported(1, 4, 3);
    int[][] apart = {{0, 1}, {2, 3}, {4, 5, 6, 7}};
    assertEquals(1, Collectives.over(cluster, apart).contention());
    int[][] meeting = {{0, 1, 4}, {2, 3, 8}, {5, 6}}; // two at the first node
    Collectives group = Collectives.over(cluster, meeting);
    assertEquals(2, group.contention(1));
    assertEquals(1, group.contention(0));
    assertEquals(3, group.members());
    assertEquals(1, Collectives.over(ported(3, 4, 3), meeting).contention());
    assertEquals(2 / 1.5, Collectives.over(ported(1.5, 4, 3), meeting).contention());
  }

  @Test
  void aPortThatAGroupPassesOnlyOnTheWayFartherOutIsNotItsOwn() {
    Cluster cluster = ported(1, 2, 2, 2); // nodes 0..3 in racks {0, 1} and {2, 3}
    int[][] groups = {{0, 2, 4}, {5, 6}}; // the first leaves node 2 for the other rack only
    assertEquals(1, Collectives.over(cluster, groups).contention(1));
    int[][] both = {{0, 2, 4, 7}, {5, 6}}; // now it also goes to node 3
    assertEquals(2, Collectives.over(cluster, both).contention(1));
    assertEquals(1, Collectives.over(cluster, both).contention(2));
  }

  @Test
  void theBusiestOfAllGroupsIsReported() {
    Cluster cluster = ported(1, 4, 4);
    int[][] groups = {{0, 4}, {1, 5}, {2, 6}, {8, 12}, {9, 13}};
    assertEquals(3, Collectives.over(cluster, groups).contention());
  }

  @Test
  void aGroupThatMeetsNobodyDoesNotPayForOthers() {
    Cluster cluster = ported(1, 4, 4);
    int[][] groups = {{0, 4}, {1, 5}, {8, 9, 10, 11, 12, 13, 14, 15}};
    double pairs = Collectives.over(cluster, new int[][] {{0, 4}, {1, 5}}).ringAllReduce(100);
    double large = over(cluster, 8, 9, 10, 11, 12, 13, 14, 15).ringAllReduce(100);
    assertEquals(Math.max(pairs, large), Collectives.over(cluster, groups).ringAllReduce(100));
    assertEquals(8, Collectives.over(cluster, groups).members());
  }

  @Test
  void moreCardsMakeTheHierarchicalFormCheaper() {
    double[] ports = {1, 2, 4, 8};
    double[] flows = {4, 2, 1, 1}; // of the four inner rings on each card
    for (int i = 0; i < ports.length; i++) {
      Collectives group = over(ported(ports[i], 4, 2), 0, 1, 2, 3, 4, 5, 6, 7);
      double expected = 6 * SLOW.seconds(25) + 2 * SLOW.seconds(12.5, flows[i]);
      assertEquals(expected, group.hierarchicalAllReduce(100), DUST * expected);
    }
  }

  @Test
  void aSetWithoutNeighboursHasNobodyToContendWith() {
    Cluster cluster = ported(1, 4, 2);
    assertEquals(Collectives.NONE, Collectives.over(cluster, new int[][] {{0}, {5}}));
    assertEquals(1, Collectives.NONE.members());
    assertEquals(1, Collectives.NONE.contention());
    assertEquals(1, Collectives.NONE.contention(1));
    assertEquals(0, Collectives.NONE.broadcast(5));
    assertEquals(0, Collectives.NONE.pointToPoint(5));
  }

  @Test
  void devicesMustAscend() {
    Cluster cluster = ported(1, 4, 2);
    assertThrows(IllegalArgumentException.class, () -> over(cluster, 1, 0));
    assertThrows(IllegalArgumentException.class, () -> over(cluster));
  }

  @Test
  void twoLevelsSumInsideThenAcross() {
    Cluster cluster = Samples.plain(List.of(FAST, SLOW), 4, 3);
    double inside = 2 * 3 * (1 + 60 / 4 / 8.0);
    double across = 2 * 2 * (3 + 60 / 3 / 2.0);
    int[] all = IntStream.range(0, 12).toArray();
    assertEquals(inside + across, over(cluster, all).hierarchicalAllReduce(60), DUST);
  }

  @Test
  void threeLevelsSumAtEveryLevelThatIsCrossed() {
    Cluster cluster = Samples.plain(List.of(FAST, SLOW, SLOWEST), 2, 2, 2);
    double pairs = 2 * (1 + 30 / 8.0);
    double racks = 2 * (3 + 30 / 2.0);
    double all = 2 * (5 + 30 / 1.0);
    assertEquals(
        pairs + racks + all, over(cluster, 0, 1, 2, 3, 4, 5, 6, 7).hierarchicalAllReduce(60), DUST);
    assertEquals(all, over(cluster, 1, 6).hierarchicalAllReduce(60), DUST);
    assertEquals(pairs + all, over(cluster, 0, 1, 6).hierarchicalAllReduce(60), DUST);
    assertEquals(racks + all, over(cluster, 0, 3, 6).hierarchicalAllReduce(60), DUST);
  }

  /** A ring passes on what it gets; of parts for others each member sends its own. */
  @Test
  void partsForAllOthersLeaveThroughThePortsThatTheirSendersShare() {
    Cluster cluster = Samples.plain(List.of(FAST, SLOW), 4, 2);
    Collectives inside = over(cluster, 0, 1, 2, 3);
    assertEquals(3 * (1 + 16 / 8.0), inside.allToAll(64));
    assertEquals(inside.ringAllGather(64), inside.allToAll(64));
    int[] all = IntStream.range(0, 8).toArray();
    double near = 3 * (1 + 8 / 8.0);
    double far = 4 * (3 + 4 * 8 / 2.0); // four members of a machine share its port
    assertEquals(near + far, over(cluster, all).allToAll(64));
    double slow = 3 * (3 + 8 / 2.0);
    double cards = 4 * (3 + 2 * 8 / 2.0); // two of them a card
    assertEquals(slow + cards, over(ported(2, 4, 2), all).allToAll(64));
    assertEquals(0, Collectives.NONE.allToAll(64));
  }

  @Test
  void theFullestGroupSetsThePace() {
    var levels = Samples.levels(new SplittableRandom(1), 3);
    Cluster cluster = Samples.racks(levels, new int[] {1, 3}, new int[] {1, 1});
    Link inside = levels.get(0).collective();
    Link across = levels.get(2).collective(); // one machine per rack: nothing crosses a rack
    double expected = 4 * inside.seconds(9e6 / 3) + 2 * across.seconds(9e6 / 2);
    assertEquals(expected, over(cluster, 0, 1, 2, 3).hierarchicalAllReduce(9e6), 1e-9 * expected);
  }

  @RepeatedTest(value = 100, name = "seed {currentRepetition}")
  void theCheapestWayIsTaken(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    Cluster cluster = Samples.plain(List.of(FAST, SLOW), 3, 4);
    int[] set = random.ints(5, 0, 12).distinct().sorted().toArray();
    Collectives sum = Collectives.over(cluster, set);
    double bytes = Samples.skewed(random, 1000);
    double least =
        Math.min(
            sum.ringAllReduce(bytes),
            Math.min(sum.treeAllReduce(bytes), sum.hierarchicalAllReduce(bytes)));
    assertEquals(set.length == 1 ? 0 : least, sum.allReduce(bytes));
  }

  @RepeatedTest(value = 100, name = "seed {currentRepetition}")
  void noSetOfDevicesIsFasterThanTheirNumberAtBest(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int[] racks = {1, 2};
    int[] machines = {random.nextInt(1, 4), random.nextInt(1, 4), random.nextInt(1, 4)};
    List<Level> levels = new ArrayList<>();
    for (Level level : Samples.levels(random, 3)) {
      double ports = random.nextBoolean() ? 1 : random.nextDouble(0.5, 4);
      Link collective = random.nextBoolean() ? level.collective() : pieced(random);
      levels.add(new Level(level.name(), level.pointToPoint(), collective, ports));
    }
    Cluster cluster = Samples.racks(levels, machines, racks);
    for (int set = 1; set < 1 << cluster.size(); set++) {
      int bits = set;
      int[] members =
          IntStream.range(0, cluster.size()).filter(d -> (bits & 1 << d) != 0).toArray();
      double bytes = Samples.skewed(random, 1e8);
      Collectives real = Collectives.over(cluster, members);
      Collectives best = Collectives.atBest(cluster, members.length);
      List<ToDoubleFunction<Collectives>> uses =
          List.of(
              group -> group.allReduce(bytes),
              group -> group.ringAllReduce(bytes),
              group -> group.treeAllReduce(bytes),
              group -> group.publishedTreeAllReduce(bytes),
              group -> group.hierarchicalAllReduce(bytes),
              group -> group.allGather(bytes),
              group -> group.allToAll(bytes),
              group -> group.broadcast(bytes),
              group -> group.pointToPoint(bytes));
      for (ToDoubleFunction<Collectives> use : uses) {
        double seconds = use.applyAsDouble(real);
        double bound = use.applyAsDouble(best);
        assertTrue(bound <= seconds * (1 + DUST), () -> bound + " > " + seconds);
      }
    }
  }

  @Test
  void atBestIsWhatTheDensestSetReachesOnAnOrdinaryCluster() {
    Cluster cluster = Samples.plain(List.of(Link.of(1e-5, 1e11), Link.of(5e-5, 3e9)), 8, 4);
    for (int devices : new int[] {2, 4, 8, 16, 32}) {
      double real = Collectives.over(cluster, IntStream.range(0, devices).toArray()).allReduce(1e8);
      assertEquals(real, Collectives.atBest(cluster, devices).allReduce(1e8), 0.05 * real);
    }
  }
}
