package dev.pipewright.schedule.timed;

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
 * adaptive search over building blocks).
 *
 * <p>Orders of forward passes and input gradients come from ZB-V's rule, from building blocks, and
 * from a list scheduler that prefers either fixed kinds of passes or what a block has due first; a
 * {@link WeightFiller} fills in the weights' gradients and the best outcome stays. Sources are
 * compared on a short run; the best are varied there, then run in full, then passes are moved.
 * Departs: the papers squeeze a block; here it is a preference, with the times given. The random
 * choices have one seed, so outcomes are reproducible. O(ops · ranks) for each outcome.
 */
public final class AdaptiveV {
  /** Makes an order by rank; empty where it finds none. */
  private interface Source {
    long[][] orders(int microBatches);
  }

  private record Trial(double score, Source source, double part) {}

  /** A source that a block leads, so that it can be varied. */
  private record Led(VBlock block, int[] limit, double patience) {}

  private static final double[] PARTS = {1, 0.5, 1e-6};
  private static final int[][] KINDS = {
    {3, 1, 0, 2}, {3, 2, 1, 0}, {1, 0, 3, 2}, {1, 2, 0, 3}, {3, 1, 2, 0}, {1, 3, 2, 0}
  };
  private static final double[] PATIENCE = {0, 0.5, 1}; // in forward passes
  private static final int FULL = 12; // sources that are run in full at least
  private static final long FULL_OPS = 500_000; // that they may have together if they are more
  private static final int VARIED = 4; // blocks that are varied
  private static final long SHORT_OPS = 1_000_000; // of all sources in short runs
  private static final long MOVED_OPS = 1_000_000;
  private static final long FEWEST_TRIES = 1_000; // fewer moves than these change nothing

  private final int ranks;
  private final int microBatches;
  private final double[] forward;
  private final double[] input;
  private final double[] weight;
  private final double transfer;
  private final int cap;
  private final int few;
  private final WeightFiller shortFiller;
  private final List<Trial> trials = new ArrayList<>();
  private final SplittableRandom random = new SplittableRandom(1);
  private long left = SHORT_OPS;

  private AdaptiveV(
      int ranks,
      int microBatches,
      double[] forward,
      double[] input,
      double[] weight,
      double transfer,
      int cap) {
    this.ranks = ranks;
    this.microBatches = microBatches;
    this.forward = forward;
    this.input = input;
    this.weight = weight;
    this.transfer = transfer;
    this.cap = cap;
    few = Math.min(microBatches, 4 * ranks);
    shortFiller = filler(few);
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
    Check.that(ranks >= 2, "a V needs at least 2 ranks: ranks=%d", ranks);
    Check.that(microBatches >= 1, "a schedule has micro-batches: micro_batches=%d", microBatches);
    Check.that(cap >= 2, "a V needs room for at least 2 activations on each rank: cap=%d", cap);
    AdaptiveV search =
        new AdaptiveV(
            ranks,
            microBatches,
            times.forward(),
            times.input(),
            times.weight(),
            times.there()[0],
            cap);
    return search.best();
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

  private Schedule best() {
    shortRuns();
    trials.sort(Comparator.comparingDouble(Trial::score));
    WeightFiller filler = filler(microBatches);
    double best = Double.POSITIVE_INFINITY;
    double part = 1;
    long[][] orders = new long[0][];
    long full = Math.max(FULL, FULL_OPS / (6L * ranks * microBatches));
    for (int i = 0; i < trials.size() && (i < full || orders.length == 0); i++) {
      Trial trial = trials.get(i);
      long[][] tried = trial.source().orders(microBatches);
      if (filler.run(tried, trial.part()) && filler.score() < best) {
        best = filler.score();
        part = trial.part();
        orders = tried;
      }
    }
    Check.that(
        orders.length > 0, "no schedule fits: ranks=%d, cap=%d; a larger cap would do", ranks, cap);
    orders = moved(orders, filler, part, best);
    filler.run(orders, part);
    Placement placement = Placement.waves(ranks, 2);
    long[][] programs =
        new WeightMoves(placement, microBatches, forward, input, weight, transfer, 1, caps())
            .improved(filler.programs());
    return new Schedule("adaptive-v", placement, microBatches, programs);
  }

  private WeightFiller filler(int microBatches) {
    return new WeightFiller(
        Placement.waves(ranks, 2), microBatches, forward, input, weight, transfer, 1, caps());
  }

  private int[] caps() {
    int[] caps = new int[ranks];
    Arrays.fill(caps, cap);
    return caps;
  }

  private void shortRuns() {
    offer(count -> VTurn.orders(ranks, count));
    List<VBlock> blocks = distinct();
    for (VBlock block : blocks) {
      offer(block::repeated);
    }
    for (int[] kinds : KINDS) {
      for (int[] limit : limits()) {
        for (double patience : PATIENCE) {
          if (left > SHORT_OPS / 2) {
            offer(
                list(
                    (rank, done, sorted) -> System.arraycopy(kinds, 0, sorted, 0, 4),
                    limit,
                    patience));
          }
        }
      }
    }
    vary(led(blocks));
  }

  /** Blocks that repeat into different orders. */
  private List<VBlock> distinct() {
    Set<Integer> seen = new HashSet<>();
    List<VBlock> distinct = new ArrayList<>();
    for (VBlock block : VBlock.all(ranks, cap)) {
      if (seen.add(Arrays.deepHashCode(block.repeated(Math.min(few, 8))))) {
        distinct.add(block);
      }
    }
    return distinct;
  }

  /** How many activations of the way there each rank may hold: fewer towards the turn. */
  private List<int[]> limits() {
    List<int[]> limits = new ArrayList<>();
    int least = Math.max(1, cap / 2 - 1);
    for (int most = cap - 1; most >= Math.max(least, cap - 3); most--) {
      for (int last = most; last >= least; last -= Math.max(1, (most - least) / 3)) {
        int[] limit = new int[ranks];
        for (int rank = 0; rank < ranks; rank++) {
          limit[rank] = most - (most - last) * rank / (ranks - 1);
        }
        limits.add(limit);
      }
    }
    return limits;
  }

  private List<Led> led(List<VBlock> blocks) {
    record Scored(double score, Led led) {}
    List<Scored> scored = new ArrayList<>();
    for (VBlock block : blocks) {
      for (int room = 1; room <= Math.min(2, cap - 1); room++) {
        for (double patience : PATIENCE) {
          if (left > SHORT_OPS / 4) {
            int[] limit = new int[ranks];
            Arrays.fill(limit, cap - room);
            Led led = new Led(block, limit, patience);
            scored.add(new Scored(offer(source(led)), led));
          }
        }
      }
    }
    scored.sort(Comparator.comparingDouble(Scored::score));
    return scored.stream().limit(VARIED).map(Scored::led).toList();
  }

  private void vary(List<Led> starts) {
    List<Led> current = new ArrayList<>(starts);
    double[] scores = new double[current.size()];
    Arrays.fill(scores, Double.POSITIVE_INFINITY);
    for (int i = 0; left > 0 && !current.isEmpty(); i = (i + 1) % current.size()) {
      Led old = current.get(i);
      Led varied = new Led(old.block().moved(random), limit(old.limit()), old.patience());
      double score = offer(source(varied));
      if (score <= scores[i]) {
        scores[i] = score;
        current.set(i, varied);
      }
    }
  }

  private int[] limit(int[] limit) {
    int[] varied = limit.clone();
    if (random.nextInt(3) == 0) {
      int rank = random.nextInt(ranks);
      varied[rank] = Math.clamp(varied[rank] + random.nextInt(3) - 1, 1, cap - 1);
    }
    return varied;
  }

  private Source source(Led led) {
    return list(led.block()::sort, led.limit(), led.patience());
  }

  private Source list(VList.Preference preference, int[] limit, double patience) {
    return count ->
        new VList(ranks, count, forward, input, weight, transfer, cap)
            .run(preference, limit, patience * forward[0]);
  }

  /** Runs a source for few micro-batches; the best score, infinite where it fails. */
  private double offer(Source source) {
    double best = Double.POSITIVE_INFINITY;
    long[][] orders = source.orders(few);
    left -= 6L * ranks * few * Math.max(1, ranks / 8); // the list scheduler looks at all ranks
    for (double part : PARTS) {
      if (shortFiller.run(orders, part)) {
        double score = shortFiller.score();
        trials.add(new Trial(score, source, part));
        best = Math.min(best, score);
      }
    }
    return best;
  }

  /** Moves single passes to and fro as long as that does no harm. */
  private long[][] moved(long[][] orders, WeightFiller filler, double part, double score) {
    long[][] best = orders;
    double least = score;
    long tries = MOVED_OPS / (6L * ranks * microBatches);
    for (long i = tries < FEWEST_TRIES ? tries : 0; i < tries; i++) {
      long[][] moved = best.clone();
      for (int moves = 1 + random.nextInt(3); moves > 0; moves--) {
        int rank = random.nextInt(ranks);
        moved[rank] = moved(moved[rank]);
      }
      if (filler.run(moved, part) && filler.score() <= least) {
        least = filler.score();
        best = moved;
      }
    }
    return best;
  }

  /** One pass some places earlier or later, never across one of its own kind. */
  private long[] moved(long[] order) {
    int from = random.nextInt(order.length);
    int step = random.nextBoolean() ? 1 : -1;
    int to = Math.clamp(from + (1L + random.nextInt(4)) * step, 0, order.length - 1);
    long[] moved = order.clone();
    for (int i = from; i != to && order[i + step] >>> 32 != order[from] >>> 32; i += step) {
      moved[i] = moved[i + step];
      moved[i + step] = order[from];
    }
    return moved;
  }
}
