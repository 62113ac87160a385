package dev.pipewright.planner;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.PlacementSpace.Step;
import dev.pipewright.planner.StagePricer.Outcome;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Finds the partition of a chain into stages, and the devices of each, with the shortest step: a
 * dynamic program over (layers left, devices used, devices of the neighbouring stage, number of
 * stages) that builds pipelines from their last stage and keeps, in each state, every partial plan
 * that no other one covers.
 *
 * <p>Formula 4 of DAPPLE (Fan et al., PPoPP 2021, §IV-C) recurses over the same states but keeps
 * one plan for each; since the latency of a pipeline is not a sum over its stages, that can lose
 * the optimum. Exact under the pricer's cost model as long as no bucket of labels overflows {@code
 * beam} (see {@link #exhaustive}).
 */
final class PipelineSearch {
  /** Partial plans kept for each number of layers left once the budget is spent. */
  static final int NARROW = 8;

  private final StageCosts costs;
  private final PlacementSpace space;
  private final StagePricer pricer;
  private final int leastStages;
  private final int mostStages;
  private final int beam;
  private final long budget;
  private final BooleanSupplier stop;
  private final LabelPool pool;
  private final int[][] heads; // [first][state]: newest label of the bucket, or -1
  private final List<int[]> active = new ArrayList<>(); // by first: states with labels
  private final int[] activeSize;
  private double limit;
  private boolean truncated;
  private boolean full;
  private long built;

  /** A complete pipeline: stages from the first, with their devices. */
  record Found(double seconds, int[] firsts, List<List<Integer>> devices, boolean[] recompute) {
    int stages() {
      return firsts.length;
    }
  }

  /**
   * @param leastStages pipelines have at least this many stages: 1, or as many as {@code
   *     mostStages}
   * @param mostStages pipelines have at most this many stages
   * @param beam partial plans kept for each number of layers left, and of stages where that is
   *     given
   * @param budget partial plans to price before the search narrows to {@link #NARROW} of them
   * @param stop asked now and then whether to end with what there is
   * @param limit step times above this are of no interest
   */
  PipelineSearch(
      StageCosts costs,
      PlacementSpace space,
      StagePricer pricer,
      int leastStages,
      int mostStages,
      int beam,
      long budget,
      BooleanSupplier stop,
      double limit) {
    this.costs = costs;
    this.space = space;
    this.pricer = pricer;
    this.leastStages = leastStages;
    this.mostStages = mostStages;
    this.beam = beam;
    this.budget = budget;
    this.stop = stop;
    this.limit = limit;
    this.pool = new LabelPool(pricer.width());
    this.heads = new int[costs.size() + 1][0];
    this.activeSize = new int[costs.size() + 1];
    for (int first = 0; first <= costs.size(); first++) {
      active.add(new int[4]);
    }
  }

  /** Whether no partial plan had to be dropped for lack of room. */
  boolean exhaustive() {
    return !truncated && !full;
  }

  /** How many partial plans were priced. */
  long built() {
    return built;
  }

  /**
   * The best pipelines, one for each number of stages, fastest first; ties to fewer stages, then
   * earlier cuts.
   */
  List<Found> run() {
    pricer.nothing(pool.values, 0);
    pool.parent[0] = -1;
    pool.first[0] = costs.size();
    pool.state[0] = space.start();
    pool.size = 1;
    expand(0);
    for (int first = costs.size() - 1; first > 0; first--) {
      for (int label : labels(first)) {
        if (bound(label) > limit) {
          continue;
        }
        if (full || stop.getAsBoolean()) {
          truncated = true;
          return complete();
        }
        expand(label);
      }
    }
    return complete();
  }

  /**
   * The labels at {@code first}, in a reproducible order; the best {@code beam} of them if there
   * are more.
   */
  private int[] labels(int first) {
    int[] labels = new int[16];
    int size = 0;
    for (int i = 0; i < activeSize[first]; i++) {
      for (int label = heads[first][active.get(first)[i]];
          label >= 0;
          label = pool.sibling[label]) {
        if (size == labels.length) {
          labels = Arrays.copyOf(labels, 2 * size);
        }
        labels[size++] = label;
      }
    }
    int room = built > budget ? Math.min(beam, NARROW) : beam;
    if (size <= room) {
      return Arrays.copyOf(labels, size);
    }
    return best(labels, size, room);
  }

  private int[] best(int[] labels, int size, int room) {
    double[][] ranked = new double[size][];
    for (int i = 0; i < size; i++) {
      ranked[i] = new double[] {bound(labels[i]), labels[i]};
    }
    Arrays.sort(
        ranked, (a, b) -> a[0] != b[0] ? Double.compare(a[0], b[0]) : Double.compare(a[1], b[1]));
    int[] kept = new int[size];
    int[] alike = new int[mostStages + 1];
    int count = 0;
    for (double[] one : ranked) {
      int label = (int) one[1];
      int stages = leastStages > 1 ? pool.stages[label] : 0; // each has others still to come
      if (alike[stages]++ < room) {
        kept[count++] = label;
      }
    }
    truncated |= count < size;
    return Arrays.copyOf(kept, count);
  }

  private double bound(int label) {
    int free = space.freeDevices(pool.state[label]);
    return pricer.bound(pool.values, pool.at(label), pool.first[label], free);
  }

  /** Puts every possible stage in front of a label. */
  private void expand(int label) {
    int behind = pool.stages[label];
    if (behind == mostStages) {
      return;
    }
    int end = pool.first[label];
    int missing = leastStages - behind - 1; // stages before the next one
    Step[] steps = space.steps(pool.state[label]);
    for (int index = 0; index < steps.length; index++) {
      Step step = steps[index];
      if (space.freeDevices(step.next()) < missing * space.unit()) {
        break; // steps take ever more devices
      }
      int latest = pricer.open(pool.values, pool.at(label), behind, end, step, limit);
      lengthen(label, behind, latest, end, step, index);
    }
  }

  /** Tries every first position up to {@code latest} for a stage before {@code end}. */
  private void lengthen(int label, int behind, int latest, int end, Step step, int index) {
    int missing = Math.max(0, leastStages - behind - 1);
    boolean mustBeFirst = leastStages > 1 && missing == 0;
    for (int first = mustBeFirst ? Math.min(0, latest) : latest; first >= missing; first--) {
      if (!costs.isStage(first, end)) {
        continue;
      }
      if (!pool.reserve()) {
        full = true;
        return;
      }
      int to = pool.size;
      built++;
      Outcome outcome = pricer.stage(pool.values, first, pool.at(to));
      if (outcome == Outcome.STOP) {
        return;
      }
      if (outcome != Outcome.SKIP) {
        pool.parent[to] = label;
        pool.first[to] = first;
        pool.state[to] = step.next();
        pool.stepIndex[to] = index;
        pool.stages[to] = behind + 1;
        pool.recompute[to] = outcome == Outcome.RECOMPUTES;
        keep(to);
      }
    }
  }

  /**
   * Adds the label at the end of the pool to its bucket unless another covers it or it is too slow.
   */
  private void keep(int label) {
    int first = pool.first[label];
    double reachable = first == 0 ? pricer.seconds(pool.values, pool.at(label)) : bound(label);
    if (reachable > limit) {
      return;
    }
    int state = first == 0 ? 0 : pool.state[label]; // a complete plan's devices no longer matter
    int before = -1;
    for (int other = head(first, state); other >= 0; other = pool.sibling[other]) {
      boolean covers = covers(other, label);
      boolean covered = covers(label, other);
      if (covers || covered) {
        if (covers && !(covered && earlierCuts(label, other))) {
          return;
        }
        unlink(first, state, before, other);
        continue;
      }
      before = other;
    }
    pool.sibling[label] = head(first, state);
    heads[first][state] = label;
    pool.size++;
    if (first == 0) {
      limit = Math.min(limit, reachable);
    }
  }

  private boolean covers(int a, int b) {
    int more = pool.stages[b] - pool.stages[a];
    return (more == 0 || (more > 0 && leastStages == 1 && pricer.comparesAcrossStages()))
        && pricer.covers(pool.values, pool.at(a), pool.at(b));
  }

  private int head(int first, int state) {
    if (heads[first].length <= state) {
      int[] grown = Arrays.copyOf(heads[first], Math.max(2 * heads[first].length, state + 8));
      Arrays.fill(grown, heads[first].length, grown.length, -2);
      heads[first] = grown;
    }
    if (heads[first][state] == -2) { // never used
      heads[first][state] = -1;
      int[] states = active.get(first);
      if (activeSize[first] == states.length) {
        states = Arrays.copyOf(states, 2 * states.length);
        active.set(first, states);
      }
      states[activeSize[first]++] = state;
    }
    return heads[first][state];
  }

  private void unlink(int first, int state, int before, int label) {
    if (before < 0) {
      heads[first][state] = pool.sibling[label];
    } else {
      pool.sibling[before] = pool.sibling[label];
    }
  }

  /** Whether {@code a} cuts earlier than {@code b} where they first differ, from the front. */
  private boolean earlierCuts(int a, int b) {
    int x = a;
    int y = b;
    while (pool.parent[x] >= 0 && pool.parent[y] >= 0) {
      if (pool.first[x] != pool.first[y]) {
        return pool.first[x] < pool.first[y];
      }
      x = pool.parent[x];
      y = pool.parent[y];
    }
    return false;
  }

  private List<Found> complete() {
    List<Integer> labels = new ArrayList<>();
    for (int label = head(0, 0); label >= 0; label = pool.sibling[label]) {
      labels.add(label);
    }
    labels.sort((a, b) -> {
      int bySeconds =
          Double.compare(
              pricer.seconds(pool.values, pool.at(a)), pricer.seconds(pool.values, pool.at(b)));
      if (bySeconds != 0) {
        return bySeconds;
      }
      int byStages = Integer.compare(pool.stages[a], pool.stages[b]);
      return byStages != 0 ? byStages : (earlierCuts(a, b) ? -1 : 1);
    });
    List<Found> found = new ArrayList<>();
    List<Integer> seen = new ArrayList<>();
    for (int label : labels) {
      if (!seen.contains(pool.stages[label])) {
        seen.add(pool.stages[label]);
        found.add(found(label));
      }
    }
    return found;
  }

  private Found found(int label) {
    int stages = pool.stages[label];
    int[] firsts = new int[stages];
    boolean[] recompute = new boolean[stages];
    List<Step> steps = new ArrayList<>();
    int at = label;
    for (int s = 0; s < stages; s++) {
      firsts[s] = pool.first[at];
      recompute[s] = pool.recompute[at];
      int parent = pool.parent[at];
      steps.add(0, space.steps(pool.state[parent])[pool.stepIndex[at]]);
      at = parent;
    }
    double seconds = pricer.seconds(pool.values, pool.at(label));
    return new Found(seconds, firsts, space.assign(steps), recompute);
  }
}
