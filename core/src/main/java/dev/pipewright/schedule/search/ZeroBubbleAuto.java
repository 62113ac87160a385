package dev.pipewright.schedule.search;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.periodic.PeriodicPipeline;
import dev.pipewright.schedule.periodic.StageLoad;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The automatic zero-bubble schedule: forward passes ahead of the first backward pass as memory and
 * times allow, then one of each in turn, weights' gradients in the gaps.
 *
 * <p>Paper: P. Qi et al., <i>Zero Bubble Pipeline Parallelism</i>, ICLR 2024, §3.1: a heuristic run
 * over a grid of choices, the best outcome kept. Its T_F, T_B, T_W, T_comm and M_limit are our
 * {@code forward}, {@code input}, {@code weight}, {@code transfer} and {@code cap}. With a cap of
 * {@code stages} micro-batches it is the paper's ZB-1p, with twice as many its ZB-2p.
 *
 * <p>O(microBatches · stages) for each of at most some hundred outcomes. Departs: the choices are
 * how many forward passes run ahead on each stage and how long a stage may wait before weights'
 * gradients fill gaps that are too short for them; the best counts are then varied stage by stage.
 * No integer program is solved.
 */
public final class ZeroBubbleAuto extends ScheduleSearch {
  /** Forward passes ahead as a share of those that fit into the wait for the first backward. */
  private static final double[] SHARES = {1, 0.9, 0.8, 0.7, 0.6, 0.5};

  private static final double[] PARTS = {1, 0.75, 0.25}; // of a weights' gradient, in a gap
  private static final double[] ROUNDINGS = {0, 0.5, 0.999};
  private static final int FEW = 4; // micro-batches of a short run for each stage
  private static final long OPS = 1_000_000; // of all short runs together

  private final int stages;
  private final int microBatches;
  private final OpTimes times;
  private final double[] cap;
  private final Set<Integer> seen = new HashSet<>(); // hashes: two that meet cost one try
  private double best = Double.POSITIVE_INFINITY;
  private int[] bestAhead = new int[0];

  private ZeroBubbleAuto(
      Placement placement, int microBatches, Trials trials, OpTimes times, double[] cap) {
    super("zb-auto", placement, microBatches, trials);
    this.stages = placement.stages();
    this.microBatches = microBatches;
    this.times = times;
    this.cap = cap;
  }

  /**
   * Activations are held until the weights' gradient.
   *
   * @param cap micro-batches whose activations a stage can hold, by stage
   */
  public static Schedule of(int microBatches, OpTimes times, double[] cap) {
    return of(microBatches, times, cap, 1);
  }

  /** The same, as {@link #search} finds it. */
  public static Schedule of(int microBatches, OpTimes times, double[] cap, double kept) {
    return search(microBatches, times, cap, kept).found(SearchDepth.FULL);
  }

  /**
   * A search that has not begun: activations are held in part until the input's gradient, in part
   * until the weights'.
   *
   * @param kept the part of the activations that only the weights' gradient frees; the input's
   *     gradient frees the rest
   */
  public static ScheduleSearch search(int microBatches, OpTimes times, double[] cap, double kept) {
    int stages = times.stages();
    Check.that(stages >= 1, "a schedule has stages: stages=%d", stages);
    Check.that(microBatches >= 1, "a schedule has micro-batches: micro_batches=%d", microBatches);
    Check.that(0 <= kept && kept <= 1, "kept must be in 0..1: kept=%s", kept);
    for (double most : cap) {
      Check.that(most >= 1, "a stage must hold at least one micro-batch: cap=%s", most);
    }
    Placement placement = Placement.straight(stages);
    int few = Math.min(microBatches, FEW * stages);
    Trials trials =
        new Trials(new OpLanes(placement, microBatches, times), few, kept, cap.clone(), OPS);
    return new ZeroBubbleAuto(placement, microBatches, trials, times, cap);
  }

  @Override
  void begin() {
    ahead();
    periodic();
  }

  private void ahead() {
    int[] counts = new int[stages];
    Arrays.setAll(counts, stage -> 2 * (stages - stage) - 1);
    offer(counts);
    Arrays.setAll(counts, stage -> stages - stage);
    offer(counts);
    for (double share : SHARES) {
      for (double rounding : ROUNDINGS) {
        double trip = 0; // until the first backward pass comes back
        for (int stage = stages - 1; stage >= 0; stage--) {
          double forward = times.forward()[stage];
          double fit = forward > 0 ? share * trip / forward + rounding : microBatches;
          counts[stage] = 1 + (int) Math.min(microBatches, fit);
          trip += forward + times.input()[stage];
          trip += stage == 0 ? 0 : times.there()[stage - 1] + times.back()[stage - 1];
        }
        offer(counts);
      }
    }
  }

  /**
   * Where memory is short of a micro-batch per stage, the order that drops batches of a pattern
   * without gaps: its waits lie together, and weights' gradients fit into them.
   */
  private void periodic() {
    int least = (int) Arrays.stream(cap).min().orElseThrow();
    if (least >= stages || stages == 1) {
      return;
    }
    List<StageLoad> loads = new ArrayList<>();
    double seconds = 0;
    for (int stage = 0; stage < stages; stage++) {
      double backward = times.input()[stage] + times.weight()[stage];
      loads.add(new StageLoad(times.forward()[stage], backward, 0, 1));
      seconds += times.forward()[stage] + backward;
    }
    if (seconds > 0) {
      double[] cuts = Arrays.copyOf(times.there(), stages - 1);
      trials.offer(lanes -> orders(loads, cuts, least, lanes.microBatches), PARTS);
    }
  }

  private static byte[][] orders(List<StageLoad> loads, double[] cuts, int cap, int microBatches) {
    Schedule schedule = PeriodicPipeline.dropping(loads, cuts, cap, microBatches);
    byte[][] orders = new byte[loads.size()][];
    for (int stage = 0; stage < orders.length; stage++) {
      long[] program = schedule.packed(stage);
      orders[stage] = new byte[program.length];
      for (int i = 0; i < program.length; i++) {
        orders[stage][i] = (byte) (Schedule.pass(program[i]) == Pass.FORWARD ? 0 : 1);
      }
    }
    return orders;
  }

  /** One more or one less on a stage, as long as that helps and the budget lasts. */
  @Override
  void vary() {
    boolean better = true;
    while (better && !trials.over()) {
      double before = best;
      for (int stage = 0; stage < stages && !trials.over(); stage++) {
        for (int by = -1; by <= 1; by += 2) {
          int[] counts = bestAhead.clone();
          counts[stage] += by;
          offer(counts);
        }
      }
      better = best < before;
    }
  }

  private void offer(int[] counts) {
    int[] ahead = counts.clone();
    for (int stage = 0; stage < stages; stage++) {
      int most = (int) Math.min(stage == 0 ? microBatches : ahead[stage - 1], cap[stage]);
      ahead[stage] = Math.clamp(ahead[stage], 1, most);
    }
    if (trials.over() || !seen.add(Arrays.hashCode(ahead))) {
      return;
    }
    double score = trials.offer(lanes -> orders(ahead, lanes.microBatches), PARTS);
    if (score < best || bestAhead.length == 0) {
      best = score;
      bestAhead = ahead;
    }
  }

  private static byte[][] orders(int[] ahead, int microBatches) {
    byte[][] orders = new byte[ahead.length][2 * microBatches];
    for (int stage = 0; stage < ahead.length; stage++) {
      byte[] order = orders[stage]; // a forward pass is 0
      int first = Math.min(ahead[stage], microBatches);
      for (int i = 0; i < microBatches; i++) {
        order[Math.min(first + 2 * i, microBatches + i)] = 1;
      }
    }
    return orders;
  }
}
