package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleInput;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Against every cut of a few layers. */
class OrderBoundTest {
  private static final List<String> SCHEDULES =
      List.of("1f1b", "zb-h1", "interleaved", "interleaved-zb", "chimera", "gems", "dualpipev");
  private static final double SEND = 0.1;
  private static final double NO_LIMIT = Double.POSITIVE_INFINITY;

  /** Layers on two ranks, and what is known of a schedule's work. */
  private static final class Case {
    private final Schedule schedule;
    private final List<WorkOrder> orders;
    private final LayerLoads loads;
    private final StageEnds ends;

    Case(SplittableRandom random) {
      String name = SCHEDULES.get(random.nextInt(SCHEDULES.size()));
      int chunks = ScheduleCatalog.find(name).orElseThrow().chunks();
      this.schedule =
          ScheduleCatalog.find(name).orElseThrow().make(ScheduleInput.counts(2, 4, chunks));
      this.orders =
          List.of(
              WorkOrder.of(schedule),
              WorkOrder.toOwnSums(schedule),
              WorkOrder.ofLastStages(schedule),
              WorkOrder.toFirstSums(schedule));
      int size = orders.get(0).stages() + random.nextInt(1, 4);
      double[] backward = random.doubles(size, 1, 3).toArray();
      double[] none = new double[size];
      this.loads =
          new LayerLoads(
              random.doubles(size, 0.5, 2).toArray(),
              backward,
              backward,
              Arrays.stream(backward).map(seconds -> seconds / 2).toArray(),
              none,
              none,
              none,
              none);
      double[] exchanges = random.doubles(size, 0, 4).toArray();
      double[] tail = Arrays.stream(exchanges).map(seconds -> seconds + 0.1).toArray();
      this.ends = new StageEnds(tail, exchanges, random.doubles(size, 0, 8).toArray(), 0.9);
    }

    OrderBound bound() {
      return new OrderBound(loads, ends, (from, to) -> SEND);
    }

    /** The least over all cuts of what an order takes, or the longest of all orders. */
    double least(List<WorkOrder> counted) {
      return least(counted, new double[counted.size()], 0, 0);
    }

    private double least(List<WorkOrder> counted, double[] sums, int stage, int first) {
      int stages = counted.get(0).stages();
      if (stage == stages) {
        double most = 0;
        for (int at = 0; at < sums.length; at++) {
          most = Math.max(most, (sums[at] + sends(counted.get(at))) / schedule.ranks());
        }
        return most;
      }
      double least = Double.POSITIVE_INFINITY;
      int from = stage == stages - 1 ? loads.size() : first + 1;
      for (int end = from; end <= loads.size() - (stages - 1 - stage); end++) {
        double[] more = sums.clone();
        for (int at = 0; at < more.length; at++) {
          more[at] += seconds(counted.get(at), stage, first, end);
        }
        least = Math.min(least, least(counted, more, stage + 1, end));
      }
      return least;
    }

    private static double sends(WorkOrder order) {
      return SEND * (order.sends()[0][1] + order.sends()[1][0]);
    }

    private double seconds(WorkOrder order, int stage, int first, int end) {
      double seconds = 0;
      double rest = 0;
      double pass = 0;
      double weights = 0;
      for (int at = first; at < end; at++) {
        seconds += order.forward()[stage] * loads.forward()[at];
        seconds += order.inputs()[stage] * (loads.backward()[at] - loads.weights()[at]);
        seconds += order.weights()[stage] * loads.weights()[at];
        seconds += order.sums()[stage] * ends.tail()[at];
        seconds += order.exchanges()[stage] * ends.exchanges()[at];
        rest += ends.rest()[at];
        pass += loads.backward()[at];
        weights += loads.weights()[at];
      }
      double least = ends.rest()[first]; // its own pass comes before
      double whole = order.whole()[stage];
      return seconds
          + whole * Math.max(least, rest - 0.9 * pass)
          + (order.last()[stage] - whole) * Math.max(least, rest - 0.9 * weights);
    }
  }

  @Test
  void isTheLeastOfAllCutsByOneCount() {
    for (int seed = 1; seed <= 100; seed++) {
      Case one = new Case(new SplittableRandom(seed));
      for (WorkOrder order : one.orders) {
        double least = one.least(List.of(order));
        assertEquals(least, one.bound().seconds(order, 2), 1e-9 * least, "seed " + seed);
      }
    }
  }

  /** No cut is shorter by all counts, and some are by each alone. */
  @Test
  void mixturesOfCountsHoldAndAreHigherThanEach() {
    int higher = 0;
    for (int seed = 1; seed <= 100; seed++) {
      Case one = new Case(new SplittableRandom(seed));
      double bound = one.bound().seconds(one.orders, 2, NO_LIMIT);
      double each =
          one.orders.stream().mapToDouble(of -> one.bound().seconds(of, 2)).max().orElse(0);
      assertTrue(bound <= one.least(one.orders) * (1 + 1e-9), "seed " + seed);
      assertTrue(bound >= each, "seed " + seed);
      higher += bound > 1.001 * each ? 1 : 0;
    }
    assertTrue(higher >= 10, "higher " + higher);
  }

  /** In gems the other direction's sum waits for the rank that ends with it. */
  @Test
  void aRankThatEndsWithTheLastStageSumsItsGradients() {
    Schedule gems = ScheduleCatalog.find("gems").orElseThrow().make(ScheduleInput.counts(2, 2, 1));
    assertEquals("[2.0, 0.0]", Arrays.toString(WorkOrder.of(gems).sums()));
    assertEquals("[1.0, 1.0]", Arrays.toString(WorkOrder.toOwnSums(gems).sums()));
  }
}
