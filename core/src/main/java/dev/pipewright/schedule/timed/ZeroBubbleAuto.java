package dev.pipewright.schedule.timed;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Program;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.units.Check;
import java.util.Arrays;
import java.util.HashSet;
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
 * how many forward passes run ahead on each stage and how much of a weights' gradient has to fit
 * into a gap; the best counts are then varied stage by stage. No integer program is solved.
 */
public final class ZeroBubbleAuto {
  /** Forward passes ahead as a share of those that fit into the wait for the first backward. */
  private static final double[] SHARES = {0.5, 0.6, 0.7, 0.8, 0.9, 1};

  private static final double[] ROUNDINGS = {0, 0.5, 0.999};
  private static final double[] PARTS = {1, 0.5, 1e-6, 0.75, 0.25};
  private static final long OPS = 4_000_000; // that all outcomes may have together

  private final WeightFiller filler;
  private final int stages;
  private final int microBatches;
  private final int[] cap;
  private final Set<String> seen = new HashSet<>();
  private long left = OPS;
  private double best = Double.POSITIVE_INFINITY;
  private int[] bestAhead = new int[0];
  private double bestPart;

  private ZeroBubbleAuto(WeightFiller filler, int stages, int microBatches, int[] cap) {
    this.filler = filler;
    this.stages = stages;
    this.microBatches = microBatches;
    this.cap = cap;
  }

  /**
   * Activations are held until the weights' gradient.
   *
   * @param cap micro-batches whose activations a stage can hold, by stage
   */
  public static Schedule of(int microBatches, OpTimes times, int[] cap) {
    return of(microBatches, times, cap, 1);
  }

  /**
   * Activations are held in part until the input's gradient, in part until the weights'.
   *
   * @param kept the part of the activations that only the weights' gradient frees; the input's
   *     gradient frees the rest
   */
  public static Schedule of(int microBatches, OpTimes times, int[] cap, double kept) {
    int stages = times.stages();
    double[] forward = times.forward();
    double[] input = times.input();
    double[] weight = times.weight();
    double transfer = times.there()[0];
    Check.that(stages >= 1, "a schedule has stages: stages=%d", stages);
    Check.that(microBatches >= 1, "a schedule has micro-batches: micro_batches=%d", microBatches);
    Check.that(0 <= kept && kept <= 1, "kept must be in 0..1: kept=%s", kept);
    for (int ahead : cap) {
      Check.that(ahead >= 1, "a stage must hold at least one micro-batch: cap=%d", ahead);
    }
    Placement placement = Placement.straight(stages);
    WeightFiller filler =
        new WeightFiller(
            placement, microBatches, forward, input, weight, transfer, kept, cap.clone());
    ZeroBubbleAuto search = new ZeroBubbleAuto(filler, stages, microBatches, cap);
    search.ahead(forward, input, transfer);
    search.vary();
    filler.run(orders(search.bestAhead, microBatches), search.bestPart);
    long[][] programs =
        new WeightMoves(
                placement, microBatches, forward, input, weight, transfer, kept, cap.clone())
            .improved(filler.programs());
    return new Schedule("zb-auto", placement, microBatches, programs);
  }

  private void ahead(double[] forward, double[] input, double transfer) {
    int[] counts = new int[stages];
    Arrays.setAll(counts, stage -> stages - stage);
    offer(counts);
    Arrays.setAll(counts, stage -> 2 * (stages - stage) - 1);
    offer(counts);
    for (double share : SHARES) {
      for (double rounding : ROUNDINGS) {
        double trip = 0; // until the first backward pass comes back
        for (int stage = stages - 1; stage >= 0; stage--) {
          double fit = forward[stage] > 0 ? share * trip / forward[stage] + rounding : microBatches;
          counts[stage] = 1 + (int) Math.min(microBatches, fit);
          trip += forward[stage] + input[stage] + 2 * transfer;
        }
        offer(counts);
      }
    }
  }

  /** One more or one less on a stage, as long as that helps and the budget lasts. */
  private void vary() {
    boolean better = true;
    while (better && left > 0) {
      double before = best;
      for (int stage = 0; stage < stages && left > 0; stage++) {
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
      int most =
          Math.min(microBatches, stage == 0 ? cap[0] : Math.min(cap[stage], ahead[stage - 1]));
      ahead[stage] = Math.clamp(ahead[stage], 1, most);
    }
    if (left <= 0 || !seen.add(Arrays.toString(ahead))) {
      return;
    }
    long[][] orders = orders(ahead, microBatches);
    for (double part : PARTS) {
      left -= 3L * stages * microBatches;
      if (filler.run(orders, part) && filler.score() < best) {
        best = filler.score();
        bestAhead = ahead;
        bestPart = part;
      }
    }
  }

  private static long[][] orders(int[] ahead, int microBatches) {
    long[][] orders = new long[ahead.length][];
    for (int stage = 0; stage < ahead.length; stage++) {
      Program program = new Program();
      for (int i = 0; i < ahead[stage]; i++) {
        program.add(Pass.FORWARD, stage, i);
      }
      for (int i = 0; i < microBatches; i++) {
        program.add(Pass.BACKWARD_INPUT, stage, i);
        if (i + ahead[stage] < microBatches) {
          program.add(Pass.FORWARD, stage, i + ahead[stage]);
        }
      }
      orders[stage] = program.packed();
    }
    return orders;
  }
}
