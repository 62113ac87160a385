package dev.pipewright.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OpTimes;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class EventSimulatorTest {
  private static final double DUST = 1e-9;
  private static final int[] NONE = {};

  private static OpTimes times(SplittableRandom random, int stages, double transfer) {
    return OpTimes.of(
        random.doubles(stages).toArray(),
        random.doubles(stages).toArray(),
        random.doubles(stages).toArray(),
        transfer);
  }

  private static double[] equal(int stages, double bytes) {
    double[] sizes = new double[stages];
    Arrays.fill(sizes, bytes);
    return sizes;
  }

  private static Run overWires(Schedule schedule, OpTimes times, double[] bytes, Wires wires) {
    return EventSimulator.run(schedule, times, Conditions.PLAIN, Traffic.ofCuts(bytes), wires);
  }

  @RepeatedTest(value = 300, name = "seed {currentRepetition}")
  void agreesWithTheStaticSimulatorWhereNothingIsShared(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    Placement placement = RandomOrders.placement(random);
    Schedule schedule = RandomOrders.schedule(random, placement, random.nextInt(1, 6));
    double latency = random.nextInt(2) * random.nextDouble();
    double bytes = random.nextInt(3) * random.nextDouble();
    // so fast that a message lands before the next leaves on the same link
    double bandwidth = 1e9;
    OpTimes times = times(random, placement.stages(), latency + bytes / bandwidth);
    Run ordered = StaticSimulator.run(schedule, times);
    Wires wires = Wires.direct(placement.ranks(), bandwidth, latency);
    Run events = overWires(schedule, times, equal(placement.stages(), bytes), wires);
    assertEquals(ordered.makespan(), events.makespan(), 1e-6);
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      for (int i = 0; i < schedule.packed(rank).length; i++) {
        assertEquals(ordered.end(rank, i), events.end(rank, i), 1e-6);
      }
    }
  }

  @Test
  void aPipelineWhoseMessagesNeverMeetTakesTheirTime() {
    Schedule schedule = OneForwardOneBackward.of(3, 4);
    OpTimes times = OpTimes.equal(3, 1, 1, 1, 0.25 + 2 / 8.0);
    Run events = overWires(schedule, times, equal(3, 2), Wires.direct(3, 8, 0.25));
    assertEquals(StaticSimulator.run(schedule, times).makespan(), events.makespan(), DUST);
  }

  /** Two pipelines of two stages each, both from node 0 to node 1, whose messages leave at once. */
  @Test
  void messagesThatLeaveANodeTogetherShareItsPort() {
    Placement placement = Placement.of(4, 2, 0, 2, 1, 3);
    Schedule schedule = twoPipelines(placement);
    OpTimes times = OpTimes.equal(4, 1, 1, 1, 0);
    double alone = 1 + 4 / 2.0 + 1 + 2 + 4 / 2.0 + 2;
    double shared = 1 + 8 / 2.0 + 1 + 2 + 8 / 2.0 + 2;
    Wires nodes = Wires.nodes(4, 2, 100, 2, 0);
    Wires free = Wires.direct(4, 2, 0);
    assertEquals(alone, overWires(schedule, times, equal(4, 4), free).makespan(), DUST);
    assertEquals(shared, overWires(schedule, times, equal(4, 4), nodes).makespan(), DUST);
  }

  /** The same in seconds: alone a message takes two, two at once take four. */
  @Test
  void messagesMeasuredInSecondsShareAlike() {
    Placement placement = Placement.of(4, 2, 0, 2, 1, 3);
    Schedule schedule = twoPipelines(placement);
    OpTimes times = OpTimes.equal(4, 1, 1, 1, 2);
    Conditions apart = Conditions.PLAIN.withWires(Wires.direct(4, 1, 0));
    Conditions together = Conditions.PLAIN.withWires(Wires.nodes(4, 2, 1, 1, 0));
    assertEquals(10, EitherSimulator.run(schedule, times, apart).makespan(), DUST);
    assertEquals(14, EitherSimulator.run(schedule, times, together).makespan(), DUST);
    assertEquals(10, EitherSimulator.run(schedule, times, Conditions.PLAIN).makespan(), DUST);
  }

  private static Schedule twoPipelines(Placement placement) {
    long[][] programs = new long[4][2];
    for (int stage = 0; stage < 4; stage++) {
      programs[placement.rankOf(stage)][0] =
          Schedule.pack(dev.pipewright.schedule.Op.Pass.FORWARD, stage, 0);
      programs[placement.rankOf(stage)][1] =
          Schedule.pack(dev.pipewright.schedule.Op.Pass.BACKWARD, stage, 0);
    }
    return new Schedule("two", placement, 1, programs);
  }

  /** Every message has a link that is full and on which none is faster: that is max–min fair. */
  @RepeatedTest(value = 200, name = "seed {currentRepetition}")
  void sharesAreMaxMinFairAfterEveryChange(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int links = random.nextInt(1, 6);
    double[] bandwidth = random.doubles(links, 0.5, 2).toArray();
    Wires wires = Wires.of(bandwidth, 0, (from, to) -> NONE);
    FairShare shares = new FairShare(wires);
    int[][] routes = new int[12][];
    Arrays.fill(routes, NONE);
    for (int step = 0; step < 60; step++) {
      int message = random.nextInt(routes.length);
      if (routes[message].length == 0) {
        routes[message] = route(random, links);
        shares.add(message, routes[message]);
      } else {
        shares.remove(message);
        routes[message] = NONE;
      }
      checkFair(shares, routes, bandwidth);
    }
  }

  private static int[] route(SplittableRandom random, int links) {
    int[] all = random.ints(random.nextInt(1, 4), 0, links).distinct().toArray();
    return all;
  }

  private static void checkFair(FairShare shares, int[][] routes, double[] bandwidth) {
    double[] load = new double[bandwidth.length];
    double[] fastest = new double[bandwidth.length];
    for (int message = 0; message < routes.length; message++) {
      if (routes[message].length > 0) {
        for (int link : routes[message]) {
          load[link] += shares.rate(message);
          fastest[link] = Math.max(fastest[link], shares.rate(message));
        }
      }
    }
    for (int link = 0; link < load.length; link++) {
      assertTrue(load[link] <= bandwidth[link] * (1 + DUST));
    }
    for (int message = 0; message < routes.length; message++) {
      if (routes[message].length > 0) {
        double rate = shares.rate(message);
        boolean held =
            Arrays.stream(routes[message])
                .anyMatch(link ->
                    load[link] >= bandwidth[link] * (1 - DUST)
                        && rate >= fastest[link] * (1 - DUST));
        assertTrue(held, "message " + message + " could be faster");
      }
    }
  }
}
