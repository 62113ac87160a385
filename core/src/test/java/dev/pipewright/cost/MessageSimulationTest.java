package dev.pipewright.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import dev.pipewright.units.BytesPerSecond;
import dev.pipewright.units.Seconds;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** The formulas of {@link Collectives} against messages that are sent one by one. */
class MessageSimulationTest {
  private static final String SEEDED = "seed {currentRepetition}";
  private static final double EXACT = 1e-9;

  private static double play(
      Cluster cluster, boolean contention, Consumer<MessageSimulationPatterns> pattern) {
    MessageSimulation simulation = MessageSimulation.ofCollectives(cluster, contention);
    pattern.accept(new MessageSimulationPatterns(simulation, cluster));
    return simulation.run();
  }

  private static int[] all(int devices) {
    return IntStream.range(0, devices).toArray();
  }

  private static Link link(SplittableRandom random, boolean latency) {
    return Link.of(latency ? random.nextDouble(0.01, 2) : 0, random.nextDouble(0.5, 8));
  }

  /** Levels with so many ports that nobody waits at them, or with the given number. */
  private static Cluster cluster(List<Link> links, double ports, int... fanouts) {
    List<Level> levels = new ArrayList<>();
    for (Link link : links) {
      levels.add(new Level("level" + levels.size(), link, link, ports));
    }
    return Cluster.uniform("c", Samples.kind("k", 1L << 40, 1e12), levels, fanouts);
  }

  private static void equal(double formula, double played) {
    assertEquals(played, formula, EXACT * played);
  }

  // The referee itself

  @Test
  void oneMessageTakesItsLatencyAndItsBytes() {
    MessageSimulation simulation =
        MessageSimulation.ofCollectives(Samples.plain(List.of(Link.of(3, 2)), 2), true);
    int first = simulation.send(0, 1, 10, List.of());
    simulation.send(1, 0, 4, List.of(first));
    assertEquals(3 + 5 + 3 + 2, simulation.run());
  }

  @Test
  void twoFlowsHalveAPortUntilOneOfThemIsThrough() {
    MessageSimulation simulation =
        MessageSimulation.ofCollectives(Samples.plain(List.of(Link.of(1, 2)), 3), true);
    simulation.send(0, 1, 4, List.of());
    simulation.send(0, 2, 8, List.of());
    assertEquals(1 + 4 + 2, simulation.run(), 1e-12); // 4 bytes each in 4 s, the other 4 in 2 s
  }

  @Test
  void twoPortsCarryTwoFlowsAndShareThree() {
    for (int flows = 1; flows <= 4; flows++) {
      Cluster cluster = cluster(List.of(Link.of(0, 100), Link.of(0, 1)), 2, 4, 2);
      MessageSimulation simulation = MessageSimulation.ofCollectives(cluster, true);
      for (int device = 0; device < flows; device++) {
        simulation.send(device, 4 + device, 6, List.of());
      }
      assertEquals(6 * Math.max(1, flows / 2.0), simulation.run(), 1e-12);
    }
  }

  @Test
  void bothDirectionsOfAPortAreFree() {
    MessageSimulation simulation =
        MessageSimulation.ofCollectives(Samples.plain(List.of(Link.of(0, 2)), 2), true);
    simulation.send(0, 1, 4, List.of());
    simulation.send(1, 0, 4, List.of());
    assertEquals(2, simulation.run(), 1e-12);
  }

  // Alone

  @RepeatedTest(value = 100, name = SEEDED)
  void aRingTakesTheSlowestStepOfAllLevels(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    List<Link> links = List.of(link(random, true), link(random, true), link(random, true));
    Cluster cluster = Samples.plain(links, 3, 2, 2);
    int[] members = random.ints(9, 0, 12).distinct().sorted().toArray();
    double bytes = Samples.skewed(random, 100);
    Collectives group = Collectives.over(cluster, members);
    boolean shared = random.nextBoolean();
    equal(
        group.ringAllReduce(bytes),
        play(cluster, shared, play -> play.ringAllReduce(members, bytes)));
    double once = play(cluster, shared, play -> play.ringOnce(members, bytes));
    equal(group.ringAllGather(bytes), once);
    equal(group.ringReduceScatter(bytes), once);
  }

  @RepeatedTest(value = 50, name = SEEDED)
  void aRingPaysEachMessageByItsSize(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    Cluster cluster = Samples.plain(List.of(pieced(random), pieced(random)), 3, 2);
    double bytes = Samples.skewed(random, 100);
    equal(
        Collectives.over(cluster, all(6)).ringAllReduce(bytes),
        play(cluster, true, play -> play.ringAllReduce(all(6), bytes)));
  }

  private static Link pieced(SplittableRandom random) {
    List<Link.Piece> small = new ArrayList<>();
    double upTo = 0;
    for (int i = random.nextInt(3); i > 0; i--) {
      upTo += random.nextDouble(0.1, 10);
      var latency = new Seconds(random.nextDouble(0.01, 1));
      small.add(new Link.Piece(upTo, latency, new BytesPerSecond(random.nextDouble(0.5, 8))));
    }
    Link large = link(random, true);
    return new Link(large.latency(), large.bandwidth(), small);
  }

  @RepeatedTest(value = 60, name = SEEDED)
  void aHierarchyOfEvenGroupsTakesTheSumOfItsLevels(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int[][] shapes = {{5}, {9}, {2, 3}, {3, 3}, {4, 2}, {2, 2, 2}, {2, 1, 3}, {1, 3, 2}};
    int[] shape = shapes[random.nextInt(shapes.length)];
    List<Link> links = new ArrayList<>();
    for (int level = 0; level < shape.length; level++) {
      links.add(random.nextBoolean() ? pieced(random) : link(random, random.nextBoolean()));
    }
    double ports = random.nextInt(1, 5); // inner rings share them
    Cluster cluster = cluster(links, ports, shape);
    double bytes = Samples.skewed(random, 100);
    int[] members = all(cluster.size());
    Collectives group = Collectives.over(cluster, members);
    equal(
        group.hierarchicalAllReduce(bytes),
        play(cluster, true, play -> play.hierarchicalAllReduce(members, bytes)));
    assertEquals(2 * group.hierarchicalReduceScatter(bytes), group.hierarchicalAllReduce(bytes));
  }

  @RepeatedTest(value = 60, name = SEEDED)
  void aHierarchyOfUnevenGroupsWaitsForTheFullest(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int widest = random.nextInt(2, 5);
    List<Integer> sizes = new ArrayList<>(List.of(widest));
    while (sizes.size() < 3) {
      int size = random.nextInt(1, widest + 1);
      if (widest % size == 0) {
        sizes.add(size);
      }
    }
    double ports = random.nextInt(1, 5);
    Link inside = link(random, true);
    Link across = link(random, true);
    var levels =
        List.of(new Level("i", inside, inside, ports), new Level("a", across, across, ports));
    int devices = sizes.stream().mapToInt(Integer::intValue).sum();
    var kinds = java.util.Collections.nCopies(devices, Samples.kind("k", 1, 1));
    Cluster cluster = new Cluster("c", kinds, levels, List.of(sizes, List.of(devices)));
    double bytes = Samples.skewed(random, 100);
    equal(
        Collectives.over(cluster, all(devices)).hierarchicalAllReduce(bytes),
        play(cluster, true, play -> play.hierarchicalAllReduce(all(devices), bytes)));
  }

  // Trees

  @Test
  void twoTreesReachEverybodyInTheLogarithmOfTheirNumberAndNobodyIsInsideBoth() {
    for (int members = 2; members <= 130; members++) {
      Cluster cluster = Samples.plain(List.of(Link.of(1, 1)), members);
      var patterns =
          new MessageSimulationPatterns(MessageSimulation.ofCollectives(cluster, true), cluster);
      int[] children = new int[members];
      int depth = 0;
      for (int shift = 0; shift < 2; shift++) {
        int[] parents = patterns.parents(all(members), shift);
        int roots = 0;
        for (int member = 0; member < members; member++) {
          depth = Math.max(depth, MessageSimulationPatterns.depth(parents, member));
          if (parents[member] < 0) {
            roots++;
          } else {
            children[parents[member]]++;
          }
        }
        assertEquals(1, roots);
      }
      assertEquals((int) Math.ceil(Math.log(members) / Math.log(2) - 1e-9), depth);
      assertTrue(Arrays.stream(children).max().orElseThrow() <= (members == 2 ? 1 : 2));
    }
  }

  /** {@code 2(h + k − 1)} steps of the two trees. */
  private static double inSteps(int members, int chunks, double step) {
    int depth = (int) Math.ceil(Math.log(members) / Math.log(2) - 1e-9);
    return 2 * (depth + chunks - 1) * step;
  }

  @RepeatedTest(value = 60, name = SEEDED)
  void twoTreesTakeTwiceTheirDepthAndFurtherChunksWhereNothingIsShared(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int members = random.nextInt(2, 14);
    Link link = link(random, random.nextBoolean());
    Cluster cluster = Samples.plain(List.of(link), members);
    double bytes = Samples.skewed(random, 100);
    int chunks = random.nextInt(1, 12);
    double step = link.seconds(bytes / 2 / chunks);
    double played =
        play(cluster, false, play -> play.twoTreeAllReduce(all(members), bytes, chunks));
    equal(inSteps(members, chunks, step), played);
  }

  @RepeatedTest(value = 60, name = SEEDED)
  void twoTreesOnOnePortEachTakeStepsOfTwoFlowsAtMost(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int members = random.nextInt(3, 14);
    Link link = link(random, random.nextBoolean());
    Cluster cluster = Samples.plain(List.of(link), members);
    double bytes = Samples.skewed(random, 100);
    Collectives group = Collectives.over(cluster, all(members));
    double port = 2 * bytes * (members - 1) / members / link.bandwidth().value();
    double best = Double.POSITIVE_INFINITY;
    for (int chunks : new int[] {1, 2, 3, 5, 8, 20, 40}) {
      double played =
          play(cluster, true, play -> play.twoTreeAllReduce(all(members), bytes, chunks));
      double formula = inSteps(members, chunks, link.seconds(bytes / 2 / chunks, 2));
      assertTrue(played <= formula * (1 + EXACT), () -> played + " > " + formula);
      double least = formula * (chunks < 20 ? 0.5 : 0.94); // at first nobody has two flows yet
      assertTrue(played >= least, () -> played + " is far below " + formula);
      assertTrue(played >= port, () -> played + " < " + port);
      best = Math.min(best, formula);
    }
    assertTrue(group.treeAllReduce(bytes) <= best * (1 + EXACT));
    assertTrue(group.treeAllReduce(bytes) >= port);
  }

  @Test
  void thePublishedTreeIsFasterThanAPortFromThreeMembersOn() {
    for (int members = 2; members <= 40; members++) {
      Cluster cluster = Samples.plain(List.of(Link.of(1e-6, 1)), members);
      Collectives group = Collectives.over(cluster, all(members));
      double port = 2 * 1e6 * (members - 1) / members;
      assertEquals(members > 2, group.publishedTreeAllReduce(1e6) < 0.99 * port);
      assertTrue(group.treeAllReduce(1e6) >= port);
    }
  }

  @RepeatedTest(value = 60, name = SEEDED)
  void twoTreesAcrossLevelsWaitForTheSlowestAtMost(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    List<Link> links = List.of(link(random, true), link(random, true), link(random, true));
    Cluster cluster = Samples.plain(links, 3, 3, 2);
    int[] members = random.ints(12, 0, 18).distinct().sorted().toArray();
    double bytes = Samples.skewed(random, 100);
    double best = Double.POSITIVE_INFINITY;
    for (int chunks = 1; chunks < 30; chunks++) {
      int k = chunks;
      best = Math.min(best, play(cluster, true, play -> play.twoTreeAllReduce(members, bytes, k)));
    }
    double played = best;
    double formula = Collectives.over(cluster, members).treeAllReduce(bytes);
    assertTrue(played <= formula * (1 + EXACT), () -> played + " > " + formula);
  }

  // Several groups

  private static double playRings(Cluster cluster, int[][] groups, double bytes) {
    return play(
        cluster,
        true,
        play -> {
          for (int[] group : groups) {
            play.ringAllReduce(group, bytes);
          }
        });
  }

  @Test
  void dataAndFilterParallelRingsShareTwoNetworkCards() {
    Cluster cluster = cluster(List.of(Link.of(1, 50), Link.of(1, 4)), 2, 4, 2);
    int[][] across = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};
    Collectives rings = Collectives.over(cluster, across);
    assertEquals(2, rings.contention());
    equal(rings.ringAllReduce(80), playRings(cluster, across, 80));
    assertEquals(2 * (1 + 40 / 2.0), rings.ringAllReduce(80)); // half of 4 bytes a second
    int[][] inside = {{0, 1, 2, 3}, {4, 5, 6, 7}};
    assertEquals(1, Collectives.over(cluster, inside).contention());
    equal(Collectives.over(cluster, inside).ringAllReduce(80), playRings(cluster, inside, 80));
  }

  @RepeatedTest(value = 100, name = SEEDED)
  void ringsThatCrossTheSamePortsDivideThem(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int nodes = random.nextInt(2, 5);
    int rings = random.nextInt(1, 5);
    int inside = random.nextInt(1, 4); // members of a ring in a node
    double ports = new double[] {1, 1.5, 2, 3, 4}[random.nextInt(5)];
    boolean latency = random.nextBoolean();
    List<Link> links = List.of(link(random, latency), link(random, latency));
    Cluster cluster = cluster(links, ports, rings * inside, nodes);
    int[][] groups = new int[rings][];
    for (int ring = 0; ring < rings; ring++) {
      int first = ring * inside;
      groups[ring] =
          IntStream.range(0, cluster.size())
              .filter(d -> d % (rings * inside) / inside == first / inside)
              .toArray();
    }
    double bytes = Samples.skewed(random, 100);
    Collectives together = Collectives.over(cluster, groups);
    assertEquals(Math.max(1, rings / ports), together.contention(1));
    equal(together.ringAllReduce(bytes), playRings(cluster, groups, bytes));
    double hierarchical =
        play(
            cluster,
            true,
            play -> {
              for (int[] group : groups) {
                play.hierarchicalAllReduce(group, bytes);
              }
            });
    equal(together.hierarchicalAllReduce(bytes), hierarchical);
  }

  @RepeatedTest(value = 100, name = SEEDED)
  void noGroupsSomewhereAreSlowerThanTheirBusiestPortSays(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    List<Link> links = List.of(link(random, true), link(random, true), link(random, true));
    double ports = random.nextDouble(0.5, 3);
    Cluster cluster = cluster(links, ports, 3, 2, 3);
    int[][] groups = randomGroups(random, cluster.size());
    double bytes = Samples.skewed(random, 100);
    double played = playRings(cluster, groups, bytes);
    Collectives together = Collectives.over(cluster, groups);
    double formula = together.ringAllReduce(bytes);
    assertTrue(played <= formula * (1 + EXACT), () -> played + " > " + formula);
    for (int[] group : groups) { // and none is faster in company than alone
      assertTrue(Collectives.over(cluster, group).allReduce(bytes) <= together.allReduce(bytes));
    }
  }

  private static int[][] randomGroups(SplittableRandom random, int devices) {
    int groups = random.nextInt(1, 5);
    int[] owner = random.ints(devices, 0, groups + 1).toArray(); // the last ones rest
    return IntStream.range(0, groups)
        .mapToObj(group -> IntStream.range(0, devices).filter(d -> owner[d] == group).toArray())
        .filter(group -> group.length > 0)
        .toArray(int[][]::new);
  }

  // Neighbours

  @RepeatedTest(value = 40, name = SEEDED)
  void neighboursExchangeHalosInOneMessageEachOrInTwoOnAPort(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int members = random.nextInt(2, 10);
    Link direct = link(random, random.nextBoolean());
    Level level = new Level("node", direct, link(random, true));
    var kind = Samples.kind("k", 1, 1);
    Cluster cluster = Cluster.uniform("c", kind, List.of(level), members);
    double bytes = random.nextDouble(1, 100);
    Collectives group = Collectives.over(cluster, all(members));
    double[] played = new double[2];
    for (int shared = 0; shared < 2; shared++) {
      var simulation = new MessageSimulation(cluster, Level::pointToPoint, shared == 1);
      new MessageSimulationPatterns(simulation, cluster).halo(all(members), bytes);
      played[shared] = simulation.run();
    }
    equal(group.pointToPoint(bytes), played[0]);
    equal(direct.seconds(bytes, members > 2 ? 2 : 1), played[1]);
  }

  @Test
  void halosOfSeveralGroupsShareTheNodesPorts() {
    Cluster cluster = cluster(List.of(Link.of(0, 50), Link.of(0, 4)), 2, 4, 2);
    int[][] groups = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};
    MessageSimulation simulation = new MessageSimulation(cluster, Level::pointToPoint, true);
    for (int[] group : groups) {
      new MessageSimulationPatterns(simulation, cluster).halo(group, 80);
    }
    equal(Collectives.over(cluster, groups).pointToPoint(80), simulation.run());
  }
}
