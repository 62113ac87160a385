package dev.pipewright.planner.placement;

import java.util.Arrays;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * The contiguous placement with the smallest largest load, among those whose largest load is at
 * most a ceiling.
 *
 * <p>Paper: J. Tarnawski et al., NeurIPS 2020, §4: for each ideal and each number of accelerators
 * and processors the smallest largest load, over all ideals within that the last device may begin
 * at. Departs: the ceiling. What a device holds only grows on the way down from an ideal, and with
 * it the time that the device is busy for sure (its work, and the transfers that leave the ideal),
 * so the way ends where that passes the ceiling. Ideals that so many devices cannot fill, or that
 * leave more than the others can take, are passed over. Loads are kept up to date from link to
 * link.
 */
final class ContiguousPlacement {
  private static final double ROUNDING = 1e-9; // of bounds
  private static final int POLL = 1 << 14;

  private final Groups groups;
  private final IdealLattice lattice;
  private final WorkBounds bounds;
  private final BooleanSupplier stop;
  private final int accelerators;
  private final int processors;
  private final int states;
  private final double[] work; // running sums by ideal
  private final double[] processorTime;
  private final double[] bytes;
  private final double[] best; // [ideal][processors][accelerators]
  private final int[] fewest; // by ideal: accelerators of any state within the ceiling
  private final Reach reach;
  private final TransferLoads cut;
  private final int[] low; // by processors: fewest accelerators that matter at an ideal
  private final int[] high;
  private final int[] wayIdeal;
  private final int[] wayLink;
  private final int[] wayBar; // links from here on were or will be taken elsewhere
  private final int[] wayGroup;
  private final double[] wayCut;
  private final double[] wayLeaving;
  private final boolean[] wayAccelerated;
  private final boolean roomy; // one accelerator holds everything
  private double ceiling;
  private long visited;
  private boolean stopped;

  ContiguousPlacement(
      Groups groups, IdealLattice lattice, WorkBounds bounds, BooleanSupplier stop) {
    this.groups = groups;
    this.lattice = lattice;
    this.bounds = bounds;
    this.stop = stop;
    accelerators = Math.min(groups.devices.accelerators(), groups.size);
    processors = Math.min(groups.devices.processors(), groups.size);
    states = (accelerators + 1) * (processors + 1);
    double[] accelerated = groups.acceleratorTime.clone();
    for (int group = 0; group < groups.size; group++) {
      accelerated[group] = groups.onAccelerator[group] ? accelerated[group] : 0;
    }
    work = lattice.sums(accelerated);
    processorTime = lattice.sums(groups.processorTime);
    bytes = lattice.sums(groups.bytes);
    best = new double[lattice.count * states];
    fewest = new int[lattice.count];
    reach = new Reach(lattice, accelerators, work, processorTime);
    cut = new TransferLoads(groups, lattice);
    roomy = bytes[lattice.count - 1] <= groups.devices.acceleratorBytes();
    low = new int[processors + 1];
    high = new int[processors + 1];
    wayIdeal = new int[groups.size + 1];
    wayLink = new int[groups.size + 1];
    wayBar = new int[groups.size + 1];
    wayGroup = new int[groups.size + 1];
    wayCut = new double[groups.size + 1];
    wayLeaving = new double[groups.size + 1];
    wayAccelerated = new boolean[groups.size + 1];
  }

  /** How many numbers a search keeps. */
  static long numbers(Groups groups, long ideals) {
    long accelerators = Math.min(groups.devices.accelerators(), groups.size);
    long processors = Math.min(groups.devices.processors(), groups.size);
    return ideals * (accelerators + 1) * (processors + 1);
  }

  /** Pairs of ideals that were looked at so far. */
  long visited() {
    return visited;
  }

  /** Whether the last search was asked to stop; it found nothing, and proved nothing. */
  boolean stopped() {
    return stopped;
  }

  /** The best placement whose largest load is at most {@code most}; none where there is none. */
  Optional<Stages> search(double most) {
    ceiling = most * (1 + 1e-12);
    stopped = false;
    Arrays.fill(best, Double.POSITIVE_INFINITY);
    Arrays.fill(fewest, Integer.MAX_VALUE);
    Arrays.fill(best, 0, states, 0);
    fewest[0] = 0;
    reach.settle(0, 0);
    for (int ideal = 1; ideal < lattice.count && !stopped; ideal++) {
      if (worthwhile(ideal)) {
        descend(ideal, -1);
        settle(ideal);
      }
      reach.settle(ideal, fewest[ideal]);
    }
    double found = best[best.length - 1];
    return stopped || found > ceiling ? Optional.empty() : Optional.of(stages());
  }

  /** Sets the numbers of accelerators that matter; whether there are any. */
  private boolean worthwhile(int ideal) {
    double behind = work[ideal];
    double ahead = work[lattice.count - 1] - behind;
    double slack = ROUNDING * (behind + ahead);
    double each = Math.max(ceiling, Double.MIN_NORMAL);
    boolean any = false;
    for (int used = 0; used <= processors; used++) {
      double filled = behind - bounds.takenOver(used * ceiling) - slack;
      double left = ahead - bounds.takenOver((processors - used) * ceiling) - slack;
      low[used] = (int) Math.min(accelerators + 1.0, Math.max(0, Math.ceil(filled / each)));
      high[used] = (int) Math.max(-1.0, accelerators - Math.max(0, Math.ceil(left / each)));
      any |= low[used] <= high[used];
    }
    return any;
  }

  /** A device more is never worse. */
  private void settle(int ideal) {
    int row = ideal * states;
    for (int used = 0; used <= processors; used++) {
      for (int with = low[used]; with <= high[used]; with++) {
        int state = row + used * (accelerators + 1) + with;
        if (with > 0) {
          best[state] = Math.min(best[state], best[state - 1]);
        }
        if (used > 0) {
          best[state] = Math.min(best[state], best[state - accelerators - 1]);
        }
        if (best[state] <= ceiling) {
          fewest[ideal] = Math.min(fewest[ideal], with);
        }
      }
    }
  }

  /**
   * Looks at all ideals within {@code top} that a device up to there may begin at.
   *
   * @param state −1 to fill in what is best for {@code top}; otherwise a state of it, to find where
   *     its last device begins
   * @return that ideal, or −1
   */
  private int descend(int top, int state) {
    int[] linkStart = lattice.linkStart;
    int[] linkRank = lattice.linkRank;
    double capacity = capacity();
    int before = state < 0 ? highest() : accelerators; // accelerators up to and with this device
    cut.open(top);
    int depth = 0;
    wayIdeal[0] = top;
    wayLink[0] = linkStart[top];
    wayBar[0] = Integer.MAX_VALUE;
    wayCut[0] = 0;
    wayLeaving[0] = 0;
    wayAccelerated[0] = before > 0;
    while (depth >= 0) {
      int at = wayIdeal[depth];
      int link = wayLink[depth];
      if (link == linkStart[at + 1] || linkRank[link] >= wayBar[depth]) {
        if (depth > 0) {
          cut.leave(wayGroup[depth]);
        }
        depth--;
        continue;
      }
      wayLink[depth] = link + 1;
      int within = lattice.linkTo[link];
      int group = lattice.linkGroup[link];
      double least = work[top] - reach.work(within, before - 1);
      boolean onHost =
          processors > 0 && processorTime[top] - reach.processorTime(within, before) <= ceiling;
      boolean accelerated =
          wayAccelerated[depth]
              && least + wayLeaving[depth] <= ceiling
              && groups.onAccelerator[group]
              && (roomy || bytes[top] - bytes[within] <= capacity);
      if (!accelerated && !onHost) {
        continue;
      }
      cut.enter(group, wayCut[depth], wayLeaving[depth]);
      accelerated &= least + cut.leaving() <= ceiling;
      if (!accelerated && !onHost) {
        cut.leave(group);
        continue;
      }
      depth++;
      wayIdeal[depth] = within;
      wayLink[depth] = linkStart[within];
      wayBar[depth] = linkRank[link];
      wayGroup[depth] = group;
      wayCut[depth] = cut.cost();
      wayLeaving[depth] = cut.leaving();
      wayAccelerated[depth] = accelerated;
      if (fewest[within] <= before) {
        double load =
            accelerated ? work[top] - work[within] + cut.cost() : Double.POSITIVE_INFINITY;
        double hosted =
            onHost ? processorTime[top] - processorTime[within] : Double.POSITIVE_INFINITY;
        if (state < 0) {
          relax(top, within, load, hosted);
        } else if (attains(top, state, within, load, hosted)) {
          unwind(depth);
          return within;
        }
      }
      if ((++visited & (POLL - 1)) == 0 && state < 0 && stop.getAsBoolean()) {
        stopped = true;
        unwind(depth);
        return -1;
      }
    }
    return -1;
  }

  private void unwind(int depth) {
    for (int step = depth; step > 0; step--) {
      cut.leave(wayGroup[step]);
    }
  }

  private int highest() {
    int highest = 0;
    for (int most : high) {
      highest = Math.max(highest, most);
    }
    return highest;
  }

  /** Sums of bytes are rounded: what fits to the last byte does fit. */
  private double capacity() {
    return groups.devices.acceleratorBytes() * (1 + 1e-12);
  }

  private void relax(int top, int within, double load, double hosted) {
    int to = top * states;
    int from = within * states;
    for (int used = 0; used <= processors; used++) {
      int row = used * (accelerators + 1);
      for (int with = low[used]; with <= high[used]; with++) {
        double least = best[to + row + with];
        if (with > 0) {
          least = Math.min(least, Math.max(best[from + row + with - 1], load));
        }
        if (used > 0) {
          least = Math.min(least, Math.max(best[from + row - accelerators - 1 + with], hosted));
        }
        best[to + row + with] = least;
      }
    }
  }

  private boolean attains(int top, int state, int within, double load, double hosted) {
    double wanted = best[top * states + state];
    int from = within * states + state;
    boolean byAccelerator =
        state % (accelerators + 1) > 0 && Math.max(best[from - 1], load) <= wanted;
    return byAccelerator || byProcessor(state, from, hosted, wanted);
  }

  private boolean byProcessor(int state, int from, double hosted, double wanted) {
    return state > accelerators && Math.max(best[from - accelerators - 1], hosted) <= wanted;
  }

  /** Where the devices of the best begin, found once more from the end. */
  private Stages stages() {
    Stages.Builder stages = new Stages.Builder(lattice);
    int ideal = lattice.count - 1;
    int state = states - 1;
    while (ideal > 0) {
      int row = ideal * states;
      if (state % (accelerators + 1) > 0 && best[row + state - 1] <= best[row + state]) {
        state--;
      } else if (state > accelerators
          && best[row + state - accelerators - 1] <= best[row + state]) {
        state -= accelerators + 1;
      } else {
        int within = descend(ideal, state);
        double hosted = processorTime[ideal] - processorTime[within];
        boolean onHost = byProcessor(state, within * states + state, hosted, best[row + state]);
        stages.add(ideal, within, onHost);
        state -= onHost ? accelerators + 1 : 1;
        ideal = within;
      }
    }
    return stages.stages();
  }
}
