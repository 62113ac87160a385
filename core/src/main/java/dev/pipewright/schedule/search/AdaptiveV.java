package dev.pipewright.schedule.search;

import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * A schedule with two stages on each rank, there and back in a V, under any cap on activations.
 *
 * <p>Papers: P. Qi et al., <i>Zero Bubble Pipeline Parallelism</i>, ICLR 2024 (ZB-V); P. Qi et al.,
 * <i>Pipeline Parallelism with Controllable Memory</i>, NeurIPS 2024, §3 (V-Min, V-Half and the
 * adaptive search over building blocks: repeat, squeeze, reorder).
 *
 * <p>Orders come from ZB-V's rule and from building blocks, which are repeated and reordered;
 * {@link Trials} compares them. The best blocks are then varied at random, within a budget of ops
 * and from one seed, so outcomes are reproducible. O(ops · log(ranks)) for each outcome. Departs:
 * passes are reordered with the times given and with equal ones, whichever turns out better, and
 * blocks that differ from rank to rank come from the variation, not from a list.
 */
public final class AdaptiveV {
  /** A block that can be varied, and how it is reordered. */
  private record Start(double score, VBlock block, boolean timed) {}

  private static final double BETWEEN = 0.75; // of a weights' gradient has to fit into ZB-V's gaps
  private static final int FEW = 3; // micro-batches of a short run for each rank
  private static final long OPS = 250_000; // of all short runs together
  private static final int VARIED = 4; // blocks that are varied
  private static final double SLACK = 0.5; // of a forward pass: how long a reordered pass may delay

  private final Trials trials;
  private final int ranks;
  private final int few;
  private final double[] caps;
  private final List<Start> starts = new ArrayList<>();

  private AdaptiveV(Trials trials, int few, double[] caps) {
    this.trials = trials;
    this.ranks = caps.length;
    this.few = few;
    this.caps = caps;
  }

  /**
   * The best schedule found within memory.
   *
   * @param times of {@code 2 · ranks} stages
   * @param cap activations of one stage and micro-batch that a rank can hold until their weights'
   *     gradient
   */
  public static Schedule of(int microBatches, OpTimes times, int cap) {
    int ranks = times.stages() / 2;
    Check.that(
        ranks >= 2, "a V needs at least 2 ranks; zb-h1 and zb-auto work with one: ranks=%d", ranks);
    Check.that(microBatches >= 1, "a schedule has micro-batches: micro_batches=%d", microBatches);
    Check.that(cap >= 2, "a V needs room for at least 2 activations on each rank: cap=%d", cap);
    Placement placement = Placement.waves(ranks, 2);
    int few = Math.min(microBatches, FEW * ranks);
    double[] caps = new double[ranks];
    Arrays.fill(caps, cap);
    Trials trials = new Trials(new OpLanes(placement, microBatches, times), few, 1, caps, OPS);
    AdaptiveV search = new AdaptiveV(trials, few, caps);
    search.offer(cap);
    search.vary();
    return new Schedule("adaptive-v", placement, microBatches, trials.best());
  }

  private void offer(int cap) {
    trials.offer(lanes -> VTurn.orders(ranks, lanes.microBatches), BETWEEN);
    Set<Integer> seen = new HashSet<>();
    boolean equal = trials.equal();
    for (VBlock block : VBlock.all(ranks, cap)) {
      if (seen.add(Arrays.deepHashCode(block.programs(Math.min(few, 8))))) {
        offer(block, true);
        if (!equal) {
          offer(block, false);
        }
      }
    }
    for (int together = cap / 2; starts.isEmpty() && together > 0; together--) {
      int count = together;
      trials.offer(
          lanes -> reordered(lanes, lanes, VGroups.programs(ranks, lanes.microBatches, count)), 1);
    }
  }

  private double offer(VBlock block, boolean timed) {
    if (trials.over()) {
      return Double.POSITIVE_INFINITY;
    }
    double score =
        trials.offer(
            lanes ->
                reordered(lanes, timed ? lanes : lanes.equal(), block.programs(lanes.microBatches)),
            1);
    starts.add(new Start(score, block, timed));
    return score;
  }

  private byte[][] reordered(OpLanes lanes, OpLanes by, byte[][] programs) {
    return lanes.cooled(new Reorder(by, caps).run(programs, SLACK * by.seconds[0]));
  }

  private void vary() {
    SplittableRandom random = new SplittableRandom(1);
    starts.sort(Comparator.comparingDouble(Start::score));
    List<Start> best = new ArrayList<>(starts.subList(0, Math.min(VARIED, starts.size())));
    for (int i = 0; !trials.over() && !best.isEmpty(); i = (i + 1) % best.size()) {
      Start old = best.get(i);
      VBlock varied = old.block().moved(random);
      double score = offer(varied, old.timed());
      if (score <= old.score()) {
        best.set(i, new Start(score, varied, old.timed()));
      }
    }
  }

  /** The cap that ZB-V fills: what 1F1B holds on its first rank. */
  public static int zeroBubble(int ranks) {
    return 2 * ranks;
  }

  /** The cap of V-Half: half of that and two more. */
  public static int half(int ranks) {
    return ranks + 2;
  }

  /** The cap of V-Min: a third of that and some more, at least four. */
  public static int least(int ranks) {
    return Math.max(4, 2 * ((ranks + 2) / 3) + 2);
  }
}
