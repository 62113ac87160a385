package dev.pipewright.planner;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Which devices a stage can take, given those that the stages behind it have taken.
 *
 * <p>Source: DAPPLE (Fan et al., PPoPP 2021, §IV-B) for the three policies, composed freely from
 * stage to stage (see {@link PlacementPolicies}). On clusters whose placements can be counted every
 * placement there is is considered.
 *
 * <p>Equal devices of a machine are interchangeable, and so are machines of equal devices under the
 * same parent: a state is how many devices of each machine are used and how many of them by the
 * neighbouring stage, sorted. States are numbered as they are met; 0 is the untouched cluster.
 */
final class PlacementSpace {
  /** Up to this many states every placement is considered. */
  static final int EVERY_PLACEMENT_STATES = 1_100;

  /** Up to this many devices the three policies are composed freely. */
  private static final int ALL_POLICIES = 32;

  /** Stands for the devices of a neighbour that spans machines in some way that does not matter. */
  private static final short SPREAD = -1;

  private static final Step[] NOT_YET = {};

  private final Cluster cluster;
  private final int unit;
  private final boolean spreadMatters;
  private final int[] counts; // stage sizes that are considered, ascending
  private final boolean everyPlacement;
  private final boolean tidy;
  private final Machines machines;

  private final List<State> states = new ArrayList<>();
  private final Map<State, Integer> numbers = new HashMap<>();
  private final List<Step[]> steps = new ArrayList<>();
  private int[] free = new int[16]; // free devices, by state
  private final DeviceSetShapes placements = new DeviceSetShapes();
  private final DeviceSetShapes pairs = new DeviceSetShapes();

  /** Used devices by machine, then those of the neighbouring stage. */
  private record State(short[] values) {
    int used(int m) {
      return values[m];
    }

    int neighbour(int m) {
      return values[values.length / 2 + m];
    }

    @Override
    public boolean equals(Object that) {
      return that instanceof State other && Arrays.equals(values, other.values);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(values);
    }
  }

  /**
   * A stage takes devices.
   *
   * @param devices how many
   * @param placement number of its device set, up to what prices do not depend on
   * @param pair number of its device set together with its neighbour's; -1 without neighbour
   * @param taken devices by machine of the state it starts from
   * @param next number of the state it leads to
   */
  record Step(int devices, int placement, int pair, short[] taken, int next) {}

  /**
   * @param unit every stage takes a multiple of this many devices (copies of the pipeline)
   * @param counts stage sizes to consider, multiples of {@code unit}, ascending
   * @param spreadMatters whether transfers to a stage that spans machines depend on which; if not,
   *     states that differ only in that are one
   */
  PlacementSpace(Cluster cluster, int unit, int[] counts, boolean spreadMatters) {
    this(cluster, unit, counts, spreadMatters, EVERY_PLACEMENT_STATES);
  }

  /**
   * The same.
   *
   * @param mostStates up to so many states every placement is considered
   */
  PlacementSpace(
      Cluster cluster, int unit, int[] counts, boolean spreadMatters, double mostStates) {
    this.cluster = cluster;
    this.unit = unit;
    this.spreadMatters = spreadMatters;
    this.counts = counts;
    this.machines = new Machines(cluster, spreadMatters);
    this.everyPlacement = machines.stateCount() <= mostStates;
    this.tidy = cluster.size() > ALL_POLICIES;
    number(new State(new short[2 * machines.count()]));
  }

  /** Whether every placement is considered, or only some policies' compositions. */
  boolean everyPlacement() {
    return everyPlacement;
  }

  /** What is considered, in words. */
  String words() {
    if (everyPlacement) {
      return "every placement";
    }
    return tidy
        ? "fresh and append first, few machines in part used"
        : "fresh, append and scatter first";
  }

  /** The number of the untouched cluster. */
  int start() {
    return 0;
  }

  /** How many states have been met. */
  int size() {
    return states.size();
  }

  /** Every stage's devices are a multiple of this: copies of the pipeline. */
  int unit() {
    return unit;
  }

  /** The numbers of devices that a stage may have, ascending. */
  int[] counts() {
    return counts.clone();
  }

  /** The greatest common divisor of {@link #counts}. */
  int grain() {
    int grain = 0;
    for (int count : counts) {
      int a = count;
      while (a != 0) {
        int rest = grain % a;
        grain = a;
        a = rest;
      }
    }
    return grain;
  }

  /** Devices that are free in {@code state}. */
  int freeDevices(int state) {
    return free[state];
  }

  /** A real device set, ascending, that is priced like the placement. */
  int[] devices(int placement) {
    return machines.real(placements.get(placement), 0);
  }

  /** The first stage's set of a pair of neighbours, as far as prices depend on it. */
  int[] senders(int pair) {
    return machines.real(pairs.get(pair), 0);
  }

  /** The second stage's set of a pair of neighbours, which may overlap the first's in name only. */
  int[] receivers(int pair) {
    return machines.real(pairs.get(pair), 1);
  }

  /** What a stage can take in {@code state}, in order of devices taken. */
  Step[] steps(int state) {
    Step[] known = steps.get(state);
    if (known.length == 0 && free[state] > 0) { // not looked at yet
      known = expand(state);
      steps.set(state, known);
    }
    return known;
  }

  private int number(State state) {
    Integer known = numbers.get(state);
    if (known != null) {
      return known;
    }
    int number = states.size();
    numbers.put(state, number);
    states.add(state);
    steps.add(NOT_YET);
    if (number == free.length) {
      free = Arrays.copyOf(free, 2 * number);
    }
    free[number] = cluster.size();
    for (int m = 0; m < machines.count(); m++) {
      free[number] -= state.used(m);
    }
    return number;
  }

  private Step[] expand(int number) {
    State state = states.get(number);
    int width = machines.count();
    int[] used = new int[width];
    int[] left = new int[width];
    int[] near = new int[width];
    for (int m = 0; m < width; m++) {
      used[m] = state.used(m);
      left[m] = machines.size(m) - used[m];
      near[m] = state.neighbour(m);
    }
    List<Step> result = new ArrayList<>();
    List<int[]> found = new ArrayList<>();
    for (int count : counts) {
      if (count > free[number]) {
        break;
      }
      found.clear();
      if (everyPlacement) {
        every(state, left, count, 0, new int[width], found);
      } else if (tidy) {
        PlacementPolicies.tidy(used, left, near, count, found);
      } else {
        PlacementPolicies.all(used, left, near, count, found);
      }
      for (int[] taken : found) {
        result.add(step(state, taken, count));
      }
    }
    return result.toArray(new Step[0]);
  }

  /** All ways to take {@code count} devices; of equal machines an earlier one gives no less. */
  private void every(State state, int[] left, int count, int m, int[] taken, List<int[]> found) {
    if (m == left.length) {
      if (count == 0) {
        found.add(taken.clone());
      }
      return;
    }
    int most = Math.min(left[m], count);
    if (m > 0 && alike(state, m - 1, m)) {
      most = Math.min(most, taken[m - 1]);
    }
    for (int take = most; take >= 0; take--) {
      taken[m] = take;
      every(state, left, count - take, m + 1, taken, found);
    }
    taken[m] = 0;
  }

  private boolean alike(State state, int a, int b) {
    return machines.kind(a) == machines.kind(b)
        && state.used(a) == state.used(b)
        && state.neighbour(a) == state.neighbour(b);
  }

  private Step step(State state, int[] taken, int count) {
    int width = machines.count();
    short[] compact = new short[width];
    int[] neighbour = new int[width];
    boolean first = true;
    for (int m = 0; m < width; m++) {
      compact[m] = (short) taken[m];
      neighbour[m] = state.neighbour(m) == SPREAD ? Math.min(1, state.used(m)) : state.neighbour(m);
      first &= state.used(m) == 0;
    }
    int[] none = new int[width];
    int placement = placements.number(machines.shape(taken, none));
    int pair = first ? -1 : pairs.number(machines.shape(taken, neighbour));
    int[] order = order(state, compact);
    int[] seen = spreadMatters ? taken : summary(taken);
    short[] next = new short[2 * width];
    for (int i = 0; i < width; i++) {
      next[i] = (short) (state.used(order[i]) + taken[order[i]]);
      next[width + i] = (short) seen[order[i]];
    }
    return new Step(count, placement, pair, compact, number(new State(next)));
  }

  /** For each machine of the next state the machine of this one. */
  private int[] order(State state, short[] taken) {
    Integer[] order = new Integer[taken.length];
    Arrays.setAll(order, m -> m);
    Arrays.sort(
        order,
        (a, b) -> {
          if (machines.kind(a) != machines.kind(b)) {
            return Integer.compare(machines.kind(a), machines.kind(b));
          }
          int byUse = Integer.compare(state.used(b) + taken[b], state.used(a) + taken[a]);
          return byUse != 0 ? byUse : Integer.compare(taken[b], taken[a]); // stable
        });
    return Arrays.stream(order).mapToInt(m -> m).toArray();
  }

  /** All that matters of a set that spans machines, where the spread does not: that it does. */
  private static int[] summary(int[] taken) {
    int spanned = 0;
    for (int count : taken) {
      spanned += count > 0 ? 1 : 0;
    }
    if (spanned <= 1) {
      return taken;
    }
    int[] summary = new int[taken.length];
    Arrays.fill(summary, SPREAD);
    return summary;
  }

  /**
   * Real devices for the stages of a pipeline.
   *
   * @param taken the steps, last stage first, from the untouched cluster on
   * @return devices by stage, first stage first, each ascending; early stages get low numbers
   */
  List<List<Integer>> assign(List<Step> taken) {
    int width = machines.count();
    int[] own = new int[width]; // machine of the current state -> of the first
    Arrays.setAll(own, m -> m);
    int[][] byStage = new int[taken.size()][width];
    int state = start();
    for (int s = 0; s < taken.size(); s++) {
      Step step = taken.get(s);
      int[] order = order(states.get(state), step.taken);
      int[] next = new int[width];
      for (int m = 0; m < width; m++) {
        byStage[taken.size() - 1 - s][own[m]] = step.taken[m];
        next[m] = own[order[m]];
      }
      own = next;
      state = step.next;
    }
    return machines.number(byStage);
  }

  /** Stage sizes {@code unit, 2·unit, …} up to the cluster's size. */
  static int[] allCounts(Cluster cluster, int unit) {
    Check.that(
        unit >= 1 && unit <= cluster.size(),
        "copies of the pipeline must be in 1..devices: replicas=%d, devices=%d",
        unit,
        cluster.size());
    int[] counts = new int[cluster.size() / unit];
    Arrays.setAll(counts, i -> (i + 1) * unit);
    return counts;
  }
}
