package dev.pipewright.planner;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

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

  // machines in the order of states: by kind, those of one kind are interchangeable
  private final int[] machine; // number in the cluster
  private final int[] size;
  private final int[] firstDevice;
  private final int[] kind;

  private final List<State> states = new ArrayList<>();
  private final Map<State, Integer> numbers = new HashMap<>();
  private final List<Step[]> steps = new ArrayList<>();
  private int[] free = new int[16]; // devices that nobody has taken, by state
  private final Shapes placements = new Shapes();
  private final Shapes pairs = new Shapes();

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
    this.cluster = cluster;
    this.unit = unit;
    this.spreadMatters = spreadMatters;
    this.counts = counts;
    int[] first = firstDevices(cluster, spreadMatters);
    int machines = first.length;
    int[] sizes = new int[machines];
    for (int m = 0; m < machines; m++) {
      sizes[m] = (m + 1 < machines ? first[m + 1] : cluster.size()) - first[m];
    }
    int[] kinds = kinds(cluster, first, sizes);
    Integer[] order = new Integer[machines];
    Arrays.setAll(order, m -> m);
    Arrays.sort(order, (a, b) -> Integer.compare(kinds[a], kinds[b])); // stable
    this.machine = Arrays.stream(order).mapToInt(m -> m).toArray();
    this.size = Arrays.stream(machine).map(m -> sizes[m]).toArray();
    this.firstDevice = Arrays.stream(machine).map(m -> first[m]).toArray();
    this.kind = Arrays.stream(machine).map(m -> kinds[m]).toArray();
    this.everyPlacement = stateCount() <= EVERY_PLACEMENT_STATES;
    this.tidy = cluster.size() > ALL_POLICIES;
    number(new State(new short[2 * machines]));
  }

  /**
   * The first device of each machine. Where prices depend on the kind of device, a machine of mixed
   * devices counts as one machine for each run of equal ones.
   */
  private static int[] firstDevices(Cluster cluster, boolean byKind) {
    return IntStream.range(0, cluster.size())
        .filter(device ->
            device == 0
                || cluster.machine(device) != cluster.machine(device - 1)
                || (byKind && !cluster.device(device).equals(cluster.device(device - 1))))
        .toArray();
  }

  private static int[] kinds(Cluster cluster, int[] firstDevice, int[] size) {
    Map<List<Object>, Integer> known = new HashMap<>();
    int[] kinds = new int[firstDevice.length];
    for (int m = 0; m < kinds.length; m++) {
      List<Object> key = new ArrayList<>();
      for (int i = 0; i < size[m]; i++) {
        key.add(cluster.device(firstDevice[m] + i));
      }
      for (int level = 1; level < cluster.levels().size(); level++) {
        key.add(cluster.group(level, firstDevice[m]));
      }
      if (size[m] < cluster.groups().get(0).get(cluster.machine(firstDevice[m]))) {
        key.add(firstDevice[m]); // part of a machine: nothing replaces it
      }
      kinds[m] = known.computeIfAbsent(key, k -> known.size());
    }
    return kinds;
  }

  /** How many states there are when every placement is considered; an upper bound. */
  private double stateCount() {
    double product = 1;
    int alike = 0;
    for (int m = 0; m < kind.length; m++) {
      alike = m > 0 && kind[m] == kind[m - 1] ? alike + 1 : 0;
      double pairsOfCounts = (size[m] + 1) * (size[m] + 2) / 2.0;
      product *= (pairsOfCounts + alike) / (alike + 1); // multisets of machines over pairs
    }
    return product;
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

  /** Devices that nobody has taken yet in {@code state}. */
  int freeDevices(int state) {
    return free[state];
  }

  /** A real device set, ascending, that is priced like the placement. */
  int[] devices(int placement) {
    return real(placements.get(placement), 0);
  }

  /** The first stage's set of a pair of neighbours, as far as prices depend on it. */
  int[] senders(int pair) {
    return real(pairs.get(pair), 0);
  }

  /** The second stage's set of a pair of neighbours, which may overlap the first's in name only. */
  int[] receivers(int pair) {
    return real(pairs.get(pair), 1);
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
    for (int m = 0; m < machine.length; m++) {
      free[number] -= state.used(m);
    }
    return number;
  }

  private Step[] expand(int number) {
    State state = states.get(number);
    int machines = machine.length;
    int[] used = new int[machines];
    int[] left = new int[machines];
    int[] near = new int[machines];
    for (int m = 0; m < machines; m++) {
      used[m] = state.used(m);
      left[m] = size[m] - used[m];
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
        every(state, left, count, 0, new int[machines], found);
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
    return kind[a] == kind[b]
        && state.used(a) == state.used(b)
        && state.neighbour(a) == state.neighbour(b);
  }

  private Step step(State state, int[] taken, int count) {
    int machines = machine.length;
    short[] compact = new short[machines];
    int[] neighbour = new int[machines];
    boolean first = true;
    for (int m = 0; m < machines; m++) {
      compact[m] = (short) taken[m];
      neighbour[m] = state.neighbour(m) == SPREAD ? Math.min(1, state.used(m)) : state.neighbour(m);
      first &= state.used(m) == 0;
    }
    int[] nobody = new int[machines];
    int placement = placements.number(shape(taken, nobody));
    int pair = first ? -1 : pairs.number(shape(taken, neighbour));
    int[] order = order(state, compact);
    int[] seen = spreadMatters ? taken : summary(taken);
    short[] next = new short[2 * machines];
    for (int i = 0; i < machines; i++) {
      next[i] = (short) (state.used(order[i]) + taken[order[i]]);
      next[machines + i] = (short) seen[order[i]];
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
          if (kind[a] != kind[b]) {
            return Integer.compare(kind[a], kind[b]);
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
   * Two device sets by machine, as triples (kind, of the one, of the other), sorted: what prices
   * depend on.
   */
  private int[] shape(int[] one, int[] other) {
    int touched = 0;
    for (int m = 0; m < one.length; m++) {
      touched += one[m] > 0 || other[m] > 0 ? 1 : 0;
    }
    long[] triples = new long[touched];
    int at = 0;
    for (int m = 0; m < one.length; m++) {
      if (one[m] > 0 || other[m] > 0) {
        triples[at++] = (long) kind[m] << 40 | (long) one[m] << 20 | other[m];
      }
    }
    Arrays.sort(triples);
    int[] shape = new int[3 * touched];
    for (int i = 0; i < touched; i++) {
      shape[3 * i] = (int) (triples[i] >>> 40);
      shape[3 * i + 1] = (int) (triples[i] >>> 20) & 0xFFFFF;
      shape[3 * i + 2] = (int) triples[i] & 0xFFFFF;
    }
    return shape;
  }

  /** Devices of real machines for one of the two sets of a shape. */
  private int[] real(int[] shape, int which) {
    int total = 0;
    for (int i = 0; i < shape.length; i += 3) {
      total += shape[i + 1 + which];
    }
    int[] devices = new int[total];
    int at = 0;
    int m = 0;
    for (int i = 0; i < shape.length; i += 3) {
      while (kind[m] != shape[i]) {
        m++;
      }
      for (int d = 0; d < shape[i + 1 + which]; d++) {
        devices[at++] = firstDevice[m] + d;
      }
      m++;
    }
    Arrays.sort(devices);
    return devices;
  }

  private record Shape(int[] triples) {
    @Override
    public boolean equals(Object that) {
      return that instanceof Shape other && Arrays.equals(triples, other.triples);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(triples);
    }
  }

  /** Numbers for shapes, in the order in which they are met. */
  private static final class Shapes {
    private final List<int[]> shapes = new ArrayList<>();
    private final Map<Shape, Integer> numbers = new HashMap<>();

    int number(int[] shape) {
      Shape key = new Shape(shape);
      Integer known = numbers.get(key);
      if (known == null) {
        known = shapes.size();
        numbers.put(key, known);
        shapes.add(shape);
      }
      return known;
    }

    int[] get(int number) {
      return shapes.get(number);
    }
  }

  /**
   * Real devices for the stages of a pipeline.
   *
   * @param taken the steps, last stage first, from the untouched cluster on
   * @return devices by stage, first stage first, each ascending; early stages get low numbers
   */
  List<List<Integer>> assign(List<Step> taken) {
    int machines = machine.length;
    int[] own = new int[machines]; // machine of the current state -> of the first
    Arrays.setAll(own, m -> m);
    int[][] byStage = new int[taken.size()][machines];
    int state = start();
    for (int s = 0; s < taken.size(); s++) {
      Step step = taken.get(s);
      int[] order = order(states.get(state), step.taken);
      int[] next = new int[machines];
      for (int m = 0; m < machines; m++) {
        byStage[taken.size() - 1 - s][own[m]] = step.taken[m];
        next[m] = own[order[m]];
      }
      own = next;
      state = step.next;
    }
    return number(byStage);
  }

  /** Machines that serve earlier stages come first among their kind, devices in stage order. */
  private List<List<Integer>> number(int[][] taken) {
    int machines = machine.length;
    Integer[] order = new Integer[machines];
    Arrays.setAll(order, m -> m);
    Arrays.sort(order, (a, b) -> earlier(taken, a, b));
    int[] real = new int[machines];
    boolean[] given = new boolean[machines];
    for (int m : order) {
      int candidate = 0;
      while (given[candidate] || kind[candidate] != kind[m]) {
        candidate++;
      }
      real[m] = candidate;
      given[candidate] = true;
    }
    int[] next = firstDevice.clone();
    List<List<Integer>> result = new ArrayList<>();
    for (int[] stage : taken) {
      List<Integer> devices = new ArrayList<>();
      for (int m = 0; m < machines; m++) {
        for (int d = 0; d < stage[m]; d++) {
          devices.add(next[real[m]]++);
        }
      }
      devices.sort(null);
      result.add(devices);
    }
    return result;
  }

  private static int earlier(int[][] taken, int a, int b) {
    for (int[] stage : taken) {
      if (stage[a] != stage[b]) {
        return Integer.compare(stage[b], stage[a]);
      }
    }
    return 0;
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
