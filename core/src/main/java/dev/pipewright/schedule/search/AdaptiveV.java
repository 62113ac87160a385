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
public final class AdaptiveV extends ScheduleSearch {
  /** A block that can be varied, and how it is reordered. */
  private record Start(double score, VBlock block, boolean timed) {}

  private static final double BETWEEN = 0.75; // of a weights' gradient has to fit into ZB-V's gaps
  private static final int FEW = 3; // micro-batches of a short run for each rank
  private static final long OPS = 250_000; // of all short runs together
  private static final long FIRST_OPS = 60_000; // of the first of them
  private static final int FIRST = 8; // blocks at least
  private static final int VARIED = 4; // blocks that are varied
  private static final double SLACK = 0.5; // of a forward pass: how long a reordered pass may delay

  private final int ranks;
  private final int cap;
  private final double[] caps;
  private final int few;
  private final List<Start> starts = new ArrayList<>();
  private List<VBlock> blocks = List.of();
  private int tried; // of them

  private AdaptiveV(
      Placement placement, int microBatches, int few, Trials trials, int cap, double[] caps) {
    super("adaptive-v", placement, microBatches, trials);
    this.few = few;
    this.ranks = caps.length;
    this.cap = cap;
    this.caps = caps;
  }

  /** The best schedule found within memory, as {@link #search} finds it. */
  public static Schedule of(int microBatches, OpTimes times, int cap) {
    return search(microBatches, times, cap).found(SearchDepth.FULL);
  }

  /**
   * A search that has not begun.
   *
   * @param times of {@code 2 · ranks} stages
   * @param cap activations of one stage and micro-batch that a rank can hold until their weights'
   *     gradient
   */
  public static ScheduleSearch search(int microBatches, OpTimes times, int cap) {
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
    return new AdaptiveV(placement, microBatches, few, trials, cap, caps);
  }

  @Override
  void begin() {
    trials.offer(lanes -> VTurn.orders(ranks, lanes.microBatches), BETWEEN);
    Set<Integer> seen = new HashSet<>();
    blocks =
        VBlock.all(ranks, cap).stream()
            .filter(block -> seen.add(Arrays.deepHashCode(block.programs(Math.min(few, 8)))))
            .toList();
    while (tried < blocks.size() && (tried < FIRST || trials.ops() < FIRST_OPS)) {
      offer(blocks.get(tried++));
    }
    for (int together = cap / 2; blocks.isEmpty() && together > 0; together--) {
      int count = together;
      trials.offer(
          lanes -> reordered(lanes, lanes, VGroups.programs(ranks, lanes.microBatches, count)), 1);
    }
  }

  private void offer(VBlock block) {
    offer(block, true);
    if (!trials.equal()) {
      offer(block, false);
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

  @Override
  void vary() {
    while (tried < blocks.size()) {
      offer(blocks.get(tried++));
    }
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
