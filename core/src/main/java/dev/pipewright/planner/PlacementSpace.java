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
 * <p>Source: DAPPLE (Fan et al., PPoPP 2021, §IV-B): <i>fresh first</i> takes unused machines,
 * <i>append first</i> fills machines in use, <i>scatter first</i> takes evenly from all machines in
 * use, or from all if none is. We compose them freely from stage to stage and, on clusters whose
 * placements can be counted, consider every placement there is.
 *
 * <p>Equal devices of a machine are interchangeable, and so are machines of equal devices under the
 * same parent: a state is how many devices of each machine are used and how many of them by the
 * neighbouring stage, sorted. States are numbered as they are met; 0 is the untouched cluster.
 */
final class PlacementSpace {
  /** Up to this many states every placement is considered. */
  static final int EVERY_PLACEMENT_STATES = 1_100;

  /** Stands for the devices of a neighbour that spans machines in some way that does not matter. */
  private static final int SPREAD = -1;

  private final Cluster cluster;
  private final int unit;
  private final boolean spreadMatters;
  private final int[] counts; // stage sizes that are considered, ascending
  private final boolean everyPlacement;
  private final int[] machineSize;
  private final int[] firstDevice;
  private final int[] kindOfMachine; // machines with the same number are interchangeable
  private final List<State> states = new ArrayList<>();
  private final Map<State, Integer> numbers = new HashMap<>();
  private final List<int[]> placements = new ArrayList<>();
  private final Map<List<Integer>, Integer> placementNumbers = new HashMap<>();
  private final List<Step[]> steps = new ArrayList<>();
  private int[] free = new int[16]; // devices that nobody has taken, by state

  /** Used devices by machine, and those of the neighbouring stage, in canonical machine order. */
  private record State(List<Integer> used, List<Integer> neighbour, List<Integer> kinds) {}

  /**
   * A stage takes devices.
   *
   * @param devices how many
   * @param placement number of the stage's own device set
   * @param neighbour number of the neighbouring stage's device set, in the same coordinates; -1 for
   *     none
   * @param taken devices by machine, in the coordinates of the state it starts from
   * @param order for each machine of the next state the machine of this one
   * @param next number of the state it leads to
   */
  record Step(int devices, int placement, int neighbour, int[] taken, int[] order, int next) {}

  /**
   * @param unit every stage takes a multiple of this many devices (copies of the pipeline)
   * @param counts stage sizes to consider, multiples of {@code unit}, ascending
   * @param spreadMatters whether transfers to a stage that spans machines depend on which; if not,
   *     states that differ only in that are one
   */
  PlacementSpace(Cluster cluster, int unit, int[] counts, boolean spreadMatters) {
    this.cluster = cluster;
    this.spreadMatters = spreadMatters;
    this.unit = unit;
    this.counts = counts;
    int[] machineOf = spreadMatters ? equalDevices(cluster) : machines(cluster);
    int machines = machineOf[cluster.size() - 1] + 1;
    this.machineSize = new int[machines];
    this.firstDevice = new int[machines];
    for (int device = cluster.size() - 1; device >= 0; device--) {
      machineSize[machineOf[device]]++;
      firstDevice[machineOf[device]] = device;
    }
    this.kindOfMachine = kinds();
    this.everyPlacement = stateCount() <= EVERY_PLACEMENT_STATES;
    List<Integer> none = java.util.Collections.nCopies(machines, 0);
    List<Integer> kinds = new ArrayList<>();
    for (int kind : kindOfMachine) {
      kinds.add(kind);
    }
    number(new State(none, none, kinds));
  }

  private static int[] machines(Cluster cluster) {
    return IntStream.range(0, cluster.size()).map(cluster::machine).toArray();
  }

  /**
   * For each device its machine, where a machine of mixed devices counts as one for each run of
   * equal ones.
   */
  private static int[] equalDevices(Cluster cluster) {
    int[] machineOf = new int[cluster.size()];
    for (int device = 1; device < machineOf.length; device++) {
      boolean same =
          cluster.machine(device) == cluster.machine(device - 1)
              && cluster.device(device).equals(cluster.device(device - 1));
      machineOf[device] = machineOf[device - 1] + (same ? 0 : 1);
    }
    return machineOf;
  }

  private int[] kinds() {
    Map<List<Object>, Integer> known = new HashMap<>();
    int[] kinds = new int[machineSize.length];
    for (int m = 0; m < kinds.length; m++) {
      List<Object> key = new ArrayList<>();
      for (int i = 0; i < machineSize[m]; i++) {
        key.add(cluster.device(firstDevice[m] + i));
      }
      for (int level = 1; level < cluster.levels().size(); level++) {
        key.add(cluster.group(level, firstDevice[m]));
      }
      int machine = cluster.machine(firstDevice[m]);
      if (machineSize[m] < cluster.groups().get(0).get(machine)) {
        key.add("part of machine " + machine); // which no other one replaces
        key.add(firstDevice[m]);
      }
      kinds[m] = known.computeIfAbsent(key, k -> known.size());
    }
    return kinds;
  }

  /** How many states there are when every placement is considered; an upper bound, saturating. */
  private double stateCount() {
    Map<Integer, Integer> perKind = new HashMap<>();
    for (int kind : kindOfMachine) {
      perKind.merge(kind, 1, Integer::sum);
    }
    double product = 1;
    for (var entry : perKind.entrySet()) {
      int size = 0;
      for (int m = 0; m < kindOfMachine.length; m++) {
        size = kindOfMachine[m] == entry.getKey() ? machineSize[m] : size;
      }
      double pairs = (size + 1) * (size + 2) / 2.0;
      for (int i = 0; i < entry.getValue(); i++) { // multisets of machines over pairs
        product *= (pairs + i) / (i + 1);
      }
    }
    return product;
  }

  /** Whether every placement is considered, or only the compositions of the three policies. */
  boolean everyPlacement() {
    return everyPlacement;
  }

  /** The number of the untouched cluster. */
  int start() {
    return 0;
  }

  /** How many states have been met. */
  int size() {
    return states.size();
  }

  /** Devices that nobody has taken yet in {@code state}. */
  int freeDevices(int state) {
    return free[state];
  }

  /** A representative device set of a placement, ascending. */
  int[] devices(int placement) {
    return placements.get(placement).clone();
  }

  int placementCount() {
    return placements.size();
  }

  /** What a stage can take in {@code state}, in order of devices taken. */
  Step[] steps(int state) {
    Step[] known = steps.get(state);
    if (known.length == 0) {
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
    if (number == free.length) {
      free = Arrays.copyOf(free, 2 * number);
    }
    free[number] = cluster.size();
    for (int used : state.used) {
      free[number] -= used;
    }
    steps.add(new Step[0]);
    return number;
  }

  private Step[] expand(int number) {
    State state = states.get(number);
    int[] free = new int[machineSize.length];
    int total = 0;
    for (int m = 0; m < free.length; m++) {
      free[m] = sizeOf(state, m) - state.used.get(m);
      total += free[m];
    }
    List<Step> result = new ArrayList<>();
    List<int[]> seen = new ArrayList<>();
    for (int count : counts) {
      if (count > total) {
        break;
      }
      seen.clear();
      if (everyPlacement) {
        every(state, free, count, 0, new int[free.length], seen);
      } else {
        policies(state, free, count, seen);
      }
      for (int[] taken : seen) {
        result.add(step(state, taken, count));
      }
    }
    return result.toArray(new Step[0]);
  }

  private int sizeOf(State state, int machine) {
    int kind = state.kinds.get(machine);
    for (int m = 0; m < kindOfMachine.length; m++) {
      if (kindOfMachine[m] == kind) {
        return machineSize[m];
      }
    }
    throw new IllegalStateException("no machine of kind " + kind);
  }

  /** All ways to take {@code count} devices; of equal machines an earlier one gives no less. */
  private void every(
      State state, int[] free, int count, int machine, int[] taken, List<int[]> found) {
    if (machine == free.length) {
      if (count == 0) {
        found.add(taken.clone());
      }
      return;
    }
    int most = Math.min(free[machine], count);
    if (machine > 0 && alike(state, machine - 1, machine)) {
      most = Math.min(most, taken[machine - 1]);
    }
    for (int take = most; take >= 0; take--) {
      taken[machine] = take;
      every(state, free, count - take, machine + 1, taken, found);
    }
    taken[machine] = 0;
  }

  private static boolean alike(State state, int a, int b) {
    return state.kinds.get(a).equals(state.kinds.get(b))
        && state.used.get(a).equals(state.used.get(b))
        && state.neighbour.get(a).equals(state.neighbour.get(b));
  }

  private void policies(State state, int[] free, int count, List<int[]> found) {
    Integer[] fresh = byPreference(state, free, false);
    Integer[] append = byPreference(state, free, true);
    addOnce(found, fill(free, fresh, count));
    addOnce(found, fill(free, append, count));
    addOnce(found, scatter(state, free, count));
  }

  /** Machines in the order in which a policy fills them; neighbours first among machines in use. */
  private static Integer[] byPreference(State state, int[] free, boolean usedFirst) {
    Integer[] order = new Integer[free.length];
    Arrays.setAll(order, m -> m);
    Arrays.sort(
        order,
        (a, b) -> {
          boolean usedA = state.used.get(a) > 0;
          boolean usedB = state.used.get(b) > 0;
          if (usedA != usedB) {
            return usedA == usedFirst ? -1 : 1;
          }
          return Integer.compare(state.neighbour.get(b), state.neighbour.get(a)); // stable
        });
    return order;
  }

  private static int[] fill(int[] free, Integer[] order, int count) {
    int[] taken = new int[free.length];
    int rest = count;
    for (int m : order) {
      taken[m] = Math.min(free[m], rest);
      rest -= taken[m];
    }
    return taken;
  }

  /**
   * Evenly over machines in use (all machines if none is); what does not fit goes to the others.
   */
  private static int[] scatter(State state, int[] free, int count) {
    int[] taken = new int[free.length];
    boolean anyUsed = state.used.stream().anyMatch(used -> used > 0);
    int rest = spread(state, free, taken, count, anyUsed);
    spread(state, free, taken, rest, false);
    return taken;
  }

  private static int spread(State state, int[] free, int[] taken, int count, boolean onlyUsed) {
    int rest = count;
    boolean moved = true;
    while (rest > 0 && moved) {
      moved = false;
      for (int m = 0; m < free.length && rest > 0; m++) {
        if (taken[m] < free[m] && (!onlyUsed || state.used.get(m) > 0)) {
          taken[m]++;
          rest--;
          moved = true;
        }
      }
    }
    return rest;
  }

  private static void addOnce(List<int[]> found, int[] taken) {
    for (int[] other : found) {
      if (Arrays.equals(other, taken)) {
        return;
      }
    }
    found.add(taken);
  }

  private Step step(State state, int[] taken, int count) {
    int machines = taken.length;
    int[] seen = spreadMatters ? taken : summary(taken); // what the next stage knows of this one
    Integer[] order = new Integer[machines];
    Arrays.setAll(order, m -> m);
    Arrays.sort(
        order,
        (a, b) -> {
          int byKind = Integer.compare(state.kinds.get(a), state.kinds.get(b));
          if (byKind != 0) {
            return byKind;
          }
          int byUse = Integer.compare(state.used.get(b) + taken[b], state.used.get(a) + taken[a]);
          return byUse != 0 ? byUse : Integer.compare(seen[b], seen[a]);
        });
    List<Integer> used = new ArrayList<>(machines);
    List<Integer> neighbour = new ArrayList<>(machines);
    List<Integer> kinds = new ArrayList<>(machines);
    int[] from = new int[machines];
    for (int i = 0; i < machines; i++) {
      from[i] = order[i];
      used.add(state.used.get(from[i]) + taken[from[i]]);
      neighbour.add(seen[from[i]]);
      kinds.add(state.kinds.get(from[i]));
    }
    int[] representative = representative(state.kinds);
    int own = placement(representative, taken, state.used);
    int other =
        state.neighbour.contains(SPREAD)
            ? placement(
                representative,
                spread(state),
                List.copyOf(java.util.Collections.nCopies(machines, 0)))
            : placement(
                representative, toArray(state.neighbour), minus(state.used, state.neighbour));
    return new Step(count, own, other, taken, from, number(new State(used, neighbour, kinds)));
  }

  /**
   * All that matters of a device set that spans machines, where the spread does not: that it does.
   */
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

  /** Some devices in use on more than one machine. */
  private static int[] spread(State state) {
    int[] devices = new int[state.used.size()];
    for (int m = 0; m < devices.length; m++) {
      devices[m] = Math.min(1, state.used.get(m));
    }
    return devices;
  }

  /** A real machine for each machine of a state: the i-th of its kind. */
  private int[] representative(List<Integer> kinds) {
    int[] machine = new int[kinds.size()];
    boolean[] given = new boolean[kinds.size()];
    for (int i = 0; i < machine.length; i++) {
      for (int m = 0; m < machine.length; m++) {
        if (!given[m] && kindOfMachine[m] == kinds.get(i)) {
          machine[i] = m;
          given[m] = true;
          break;
        }
      }
    }
    return machine;
  }

  private static int[] toArray(List<Integer> values) {
    return values.stream().mapToInt(Integer::intValue).toArray();
  }

  private static List<Integer> minus(List<Integer> a, List<Integer> b) {
    List<Integer> difference = new ArrayList<>();
    for (int i = 0; i < a.size(); i++) {
      difference.add(a.get(i) - b.get(i));
    }
    return difference;
  }

  /**
   * The number of the device set that takes {@code taken} devices after {@code offset} of each
   * machine.
   */
  private int placement(int[] machines, int[] taken, List<Integer> offset) {
    List<Integer> devices = new ArrayList<>();
    for (int i = 0; i < taken.length; i++) {
      for (int d = 0; d < taken[i]; d++) {
        devices.add(firstDevice[machines[i]] + offset.get(i) + d);
      }
    }
    if (devices.isEmpty()) {
      return -1;
    }
    devices.sort(null);
    Integer known = placementNumbers.get(devices);
    if (known == null) {
      known = placements.size();
      placementNumbers.put(devices, known);
      placements.add(toArray(devices));
    }
    return known;
  }

  /**
   * Real devices for the stages of a pipeline.
   *
   * @param steps the steps taken, last stage first
   * @return devices by stage, first stage first, each ascending; early stages get low numbers
   */
  List<List<Integer>> assign(List<Step> steps) {
    int machines = machineSize.length;
    int[] identity = new int[machines]; // position in the current state -> own number
    Arrays.setAll(identity, m -> m);
    int[][] taken = new int[steps.size()][machines];
    for (int s = 0; s < steps.size(); s++) {
      Step step = steps.get(s);
      int[] next = new int[machines];
      for (int m = 0; m < machines; m++) {
        taken[steps.size() - 1 - s][identity[m]] = step.taken[m];
        next[m] = identity[step.order[m]];
      }
      identity = next;
    }
    return number(taken);
  }

  /** Machines that serve earlier stages come first among their kind, devices in stage order. */
  private List<List<Integer>> number(int[][] taken) {
    int machines = machineSize.length;
    Integer[] order = new Integer[machines];
    Arrays.setAll(order, m -> m);
    Arrays.sort(order, (a, b) -> earlier(taken, a, b));
    int[] real = new int[machines];
    boolean[] given = new boolean[machines];
    for (int virtual : order) {
      int m = 0;
      while (given[m] || kindOfMachine[m] != kindOfMachine[virtual]) {
        m++;
      }
      real[virtual] = m;
      given[m] = true;
    }
    int[] next = firstDevice.clone();
    List<List<Integer>> result = new ArrayList<>();
    for (int[] stage : taken) {
      List<Integer> devices = new ArrayList<>();
      for (int virtual = 0; virtual < machines; virtual++) {
        for (int d = 0; d < stage[virtual]; d++) {
          devices.add(next[real[virtual]]++);
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

  /** Every stage's devices are a multiple of this. */
  int unit() {
    return unit;
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
