package dev.pipewright.planner.placement;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/**
 * Moves single groups to other devices and swaps two, at random, ever more unwilling to make the
 * loads less even: simulated annealing (S. Kirkpatrick et al., <i>Science</i> 220 (1983),
 * doi:10.1126/science.220.4598.671) on the sum of the loads' eighth powers, so that all near the
 * largest count. Groups of a device need not be contiguous. The same seed gives the same placement.
 */
final class PlacementAnnealing {
  private static final int ROUNDS = 12;
  private static final int MOVES = 3_000; // of each group in a round
  private static final int MOST_MOVES = 1_500_000; // in a round
  private static final double HOT = 0.3;
  private static final double COLD = 1e-5;
  private static final int POLL = 1 << 12;
  private static final double SWAPS = 0.3;

  private final Groups groups;
  private final SplittableRandom random;
  private final BooleanSupplier stop;
  private final Occupancy now;
  private int[] best = new int[0];
  private double least;

  PlacementAnnealing(Groups groups, long seed, BooleanSupplier stop) {
    this.groups = groups;
    this.stop = stop;
    random = new SplittableRandom(seed);
    now = new Occupancy(groups);
  }

  /** A placement that is as good as {@code from}, or better. */
  OperatorPlacement improved(OperatorGraph graph, OperatorPlacement from) {
    best = start(graph, from);
    now.set(best);
    least = now.most();
    int moves = (int) Math.min(MOST_MOVES, (long) MOVES * groups.size);
    for (int round = 0; round < ROUNDS && now.devices() > 1 && groups.size > 1; round++) {
      now.set(best);
      if (!anneal(moves, round % 2 == 0 ? HOT : HOT / 30)) {
        break;
      }
    }
    return result(graph, from);
  }

  /** The devices of {@code from}, accelerators first. */
  private int[] start(OperatorGraph graph, OperatorPlacement from) {
    int accelerator = 0;
    int processor = now.devices() - 1;
    int[] placement = new int[graph.size()];
    for (OperatorPlacement.Device device : from.devices()) {
      int place = device.processor() ? processor-- : accelerator++;
      for (int operator : device.operators()) {
        placement[operator] = place;
      }
    }
    int[] ofGroups = new int[groups.size];
    Arrays.setAll(ofGroups, group -> placement[groups.members[group][0]]);
    return ofGroups;
  }

  /** One cooling; whether it was not asked to stop. */
  private boolean anneal(int moves, double hot) {
    double scale = least > 0 ? 1 / least : 1;
    double cooling = Math.pow(COLD / hot, 1.0 / moves);
    double warmth = hot;
    for (int move = 0; move < moves; move++, warmth *= cooling) {
      if (move % POLL == 0 && stop.getAsBoolean()) {
        return false;
      }
      int group = random.nextInt(groups.size);
      int from = now.deviceOf(group);
      int to = random.nextInt(now.devices() - 1);
      to += to >= from ? 1 : 0;
      int other = random.nextDouble() < SWAPS ? random.nextInt(groups.size) : -1;
      if (other >= 0 && now.deviceOf(other) != to) {
        continue;
      }
      double before = unevenness(from, scale) + unevenness(to, scale);
      if (!tried(group, from, to, other)) {
        continue;
      }
      double worse = unevenness(from, scale) + unevenness(to, scale) - before;
      if (worse > 0 && random.nextDouble() >= Math.exp(-worse / warmth)) {
        if (other >= 0) {
          now.move(other, to);
        }
        now.move(group, from);
      } else {
        remember();
      }
    }
    return true;
  }

  /** Makes the move, or the swap, if there is room; whether there was. */
  private boolean tried(int group, int from, int to, int other) {
    if (other < 0) {
      boolean room = now.takes(to, group);
      if (room) {
        now.move(group, to);
      }
      return room;
    }
    now.move(other, from); // room is looked at when both are on the way
    boolean there = now.takes(to, group);
    now.move(group, to);
    now.leave(other);
    boolean here = now.takes(from, other);
    now.enter(other, from);
    if (!there || !here) {
      now.move(other, to);
      now.move(group, from);
    }
    return there && here;
  }

  private double unevenness(int device, double scale) {
    double square = now.load(device) * scale;
    square *= square;
    square *= square;
    return square * square;
  }

  private void remember() {
    double most = now.most();
    if (most < least * (1 - 1e-12)) {
      least = most;
      best = now.placement();
    }
  }

  /** Exact once more: moves leave rounding behind. */
  private OperatorPlacement result(OperatorGraph graph, OperatorPlacement from) {
    int[] deviceOf = new int[graph.size()];
    for (int group = 0; group < groups.size; group++) {
      for (int operator : groups.members[group]) {
        deviceOf[operator] = best[group];
      }
    }
    OperatorPlacement found = OperatorPlacement.of(graph, deviceOf, now.processors());
    return found.maxLoad() < from.maxLoad() && PlacementPlanner.fits(graph, found) ? found : from;
  }
}
