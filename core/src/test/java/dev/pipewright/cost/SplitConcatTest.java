package dev.pipewright.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class SplitConcatTest {
  private static final Link FAST = Link.of(1, 8);
  private static final Link SLOW = Link.of(3, 2);
  private static final Link SLOWEST = Link.of(5, 1);
  private static final Cluster TWO_BY_FOUR = Samples.plain(List.of(FAST, SLOW), 4, 2);

  private static double seconds(Cluster cluster, int[] from, int[] to) {
    return SplitConcat.between(cluster, from, to).seconds(64);
  }

  private static int[] devices(int... devices) {
    return devices;
  }

  @Test
  void oneToOneIsAMessage() {
    assertEquals(FAST.seconds(64), seconds(TWO_BY_FOUR, devices(0), devices(1)));
    assertEquals(SLOW.seconds(64), seconds(TWO_BY_FOUR, devices(0), devices(4)));
  }

  @Test
  void oneToManyLeavesThroughThePortOfTheOne() {
    assertEquals(FAST.seconds(64), seconds(TWO_BY_FOUR, devices(0), devices(1, 2, 3)));
    assertEquals(SLOW.seconds(64), seconds(TWO_BY_FOUR, devices(0), devices(4, 5)));
  }

  @Test
  void manyToOneArrivesThroughThePortOfTheOne() {
    assertEquals(FAST.seconds(64), seconds(TWO_BY_FOUR, devices(1, 2, 3), devices(0)));
    // half of it is at home; the other half comes through the network card
    double home = 32 / 8.0;
    double away = 32 / 2.0;
    assertEquals(3 + Math.max(home, away), seconds(TWO_BY_FOUR, devices(1, 4), devices(0)));
  }

  @Test
  void manyToManySplitsEvenlyOverThePorts() {
    assertEquals(FAST.seconds(32), seconds(TWO_BY_FOUR, devices(0, 1), devices(2, 3)));
    assertEquals(FAST.seconds(16), seconds(TWO_BY_FOUR, devices(0, 1, 4, 5), devices(2, 3, 6, 7)));
    // both machines send and receive: nothing crosses; from one machine to the other all does
    assertEquals(SLOW.seconds(64), seconds(TWO_BY_FOUR, devices(0, 1), devices(4, 5)));
  }

  @Test
  void unequalSharesCrossTheNetworkAsFarAsTheyDiffer() {
    // machine 0 sends 3/4 and wants 1/3; machine 1 sends 1/4 and wants 2/3: 5/12 cross
    double across = 64 * (3 / 4.0 - 1 / 3.0) / 2;
    double inside = 64 * (1 / 3.0) / 8;
    assertEquals(
        3 + Math.max(across, inside),
        seconds(TWO_BY_FOUR, devices(0, 1, 2, 4), devices(3, 5, 6)),
        1e-12);
  }

  @Test
  void whatLeavesARackGoesThroughThePortsOfMachineAndRack() {
    Cluster racks = Samples.plain(List.of(FAST, SLOW, SLOWEST), 2, 2, 2);
    assertEquals(SLOW.seconds(64), seconds(racks, devices(0), devices(2)));
    assertEquals(SLOWEST.seconds(64), seconds(racks, devices(0, 2), devices(4, 6)));
    // a machine's port is shared by half of the slices, the rack's by all
    Cluster wide = Samples.plain(List.of(FAST, Link.of(3, 0.25), SLOWEST), 2, 2, 2);
    assertEquals(5 + 32 / 0.25, seconds(wide, devices(0, 2), devices(4, 6)));
  }

  @Test
  void nothingTakesNoTime() {
    assertEquals(0, SplitConcat.between(TWO_BY_FOUR, devices(0), devices(4)).seconds(0));
  }

  /** Two disjoint sets of devices of a random cluster of three levels. */
  private record Sides(Cluster cluster, int[] from, int[] to) {
    static Sides of(long seed) {
      SplittableRandom random = new SplittableRandom(seed);
      List<Level> levels = Samples.levels(random, 3);
      Cluster cluster =
          random.nextBoolean()
              ? Samples.plain(levels.stream().map(Level::pointToPoint).toList(), 3, 2, 2)
              : Samples.racks(levels, new int[] {2, 4, 1, 3, 2}, new int[] {2, 3});
      int[] side = random.ints(cluster.size(), 0, 3).toArray();
      side[random.nextInt(6)] = 0;
      side[6 + random.nextInt(6)] = 1;
      return new Sides(cluster, members(side, 0), members(side, 1));
    }

    private static int[] members(int[] side, int which) {
      return IntStream.range(0, side.length).filter(d -> side[d] == which).toArray();
    }
  }

  @RepeatedTest(value = 200, name = "seed {currentRepetition}")
  void agreesWithAnExplicitMatchingOfSlices(RepetitionInfo seed) {
    Sides sides = Sides.of(seed.getCurrentRepetition());
    Matching matching = new Matching(sides.cluster, sides.from, sides.to);
    SplitConcat computed = SplitConcat.between(sides.cluster, sides.from, sides.to);
    assertEquals(matching.perByte(), computed.secondsPerByte(), 1e-9 * matching.perByte());
    assertEquals(matching.latency(), computed.latencySeconds());
  }

  @RepeatedTest(value = 100, name = "seed {currentRepetition}")
  void backTakesAsLongAsThere(RepetitionInfo seed) {
    Sides sides = Sides.of(seed.getCurrentRepetition());
    double there = seconds(sides.cluster, sides.from, sides.to);
    assertEquals(there, seconds(sides.cluster, sides.to, sides.from), 1e-9 * there);
  }

  @RepeatedTest(value = 100, name = "seed {currentRepetition}")
  void equalDevicesAndMachinesAreInterchangeable(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    Cluster cluster = Samples.plain(List.of(FAST, SLOW, SLOWEST), 3, 2, 2);
    int[] side = random.ints(12, 0, 3).toArray();
    side[0] = 0;
    side[11] = 1;
    int[] renamed = new int[12]; // racks swapped, machines swapped, devices rotated
    for (int device = 0; device < 12; device++) {
      int rack = 1 - device / 6;
      int machine = 1 - device / 3 % 2;
      renamed[rack * 6 + machine * 3 + (device + 1) % 3] = side[device];
    }
    double before = seconds(cluster, Sides.members(side, 0), Sides.members(side, 1));
    double after = seconds(cluster, Sides.members(renamed, 0), Sides.members(renamed, 1));
    assertEquals(before, after, 1e-12 * before);
  }

  /**
   * Hands slices over as near home as possible, in small equal pieces, and counts bytes by port.
   */
  private static final class Matching {
    private final Cluster cluster;
    private final int[] from;
    private final int[] to;
    private final Map<List<Integer>, Double> ports = new HashMap<>(); // level, member, direction
    private double latency;

    Matching(Cluster cluster, int[] from, int[] to) {
      this.cluster = cluster;
      this.from = from;
      this.to = to;
      // each sender holds to.length pieces, each receiver wants from.length; all are 1/(f·t)
      int[] have = new int[cluster.size()];
      int[] want = new int[cluster.size()];
      Arrays.stream(from).forEach(device -> have[device] = to.length);
      Arrays.stream(to).forEach(device -> want[device] = from.length);
      for (int level = 0; level < cluster.levels().size(); level++) {
        boolean moved = true;
        while (moved) {
          moved = round(level, have, want);
        }
      }
    }

    /** Every sender in turn gives one piece to the receiver that has been given least. */
    private boolean round(int level, int[] have, int[] want) {
      boolean moved = false;
      for (int a : from) {
        int b = neediest(level, a, want);
        if (have[a] > 0 && b >= 0) {
          have[a]--;
          want[b]--;
          transfer(a, b, level);
          moved = true;
        }
      }
      return moved;
    }

    private int neediest(int level, int a, int[] want) {
      int best = -1;
      for (int b : to) {
        boolean near = cluster.levelJoining(a, b) == level && want[b] > 0;
        best = near && (best < 0 || want[b] > want[best]) ? b : best;
      }
      return best;
    }

    private void transfer(int a, int b, int joining) {
      for (int level = Math.min(1, joining); level <= joining; level++) {
        latency = Math.max(latency, link(level).latency().value());
      }
      if (joining == 0) {
        count(0, a, 0);
        count(0, b, 1);
      }
      for (int level = 1; level <= joining; level++) { // each group on the way has one port
        count(level, cluster.group(level - 1, a), 0);
        count(level, cluster.group(level - 1, b), 1);
      }
    }

    private void count(int level, int member, int direction) {
      double piece = 1.0 / (from.length * to.length);
      ports.merge(List.of(level, member, direction), piece, Double::sum);
    }

    private Link link(int level) {
      return cluster.levels().get(level).pointToPoint();
    }

    double latency() {
      return latency;
    }

    /** The busiest port; inside a machine its devices' ports share the work evenly. */
    double perByte() {
      double busiest = 0;
      for (int machine = 0; machine < cluster.machines(); machine++) {
        for (int direction = 0; direction < 2; direction++) {
          busiest = Math.max(busiest, inside(machine, direction));
        }
      }
      for (var port : ports.entrySet()) {
        int level = port.getKey().get(0);
        if (level > 0) {
          busiest = Math.max(busiest, port.getValue() / link(level).bandwidth().value());
        }
      }
      return busiest;
    }

    private double inside(int machine, int direction) {
      int[] side = direction == 0 ? from : to;
      double sum = 0;
      int devices = 0;
      for (int device : side) {
        if (cluster.machine(device) == machine) {
          devices++;
          sum += ports.getOrDefault(List.of(0, device, direction), 0.0);
        }
      }
      return devices == 0 ? 0 : sum / devices / link(0).bandwidth().value();
    }
  }

  @Test
  void theMatchingOfTheRefereeMovesEverything() {
    for (int seed = 1; seed <= 50; seed++) {
      Sides sides = Sides.of(seed);
      Matching matching = new Matching(sides.cluster, sides.from, sides.to);
      assertTrue(matching.perByte() > 0);
    }
  }
}
