package dev.pipewright.schedule.periodic;

import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Placement;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * A k-periodic pattern (§3.1): every stage's forward and backward pass {@code k} times, each with a
 * start and a shift, repeated for ever. Whether it can run is for {@link PatternCheck} to say.
 */
public final class Pattern {
  private final Placement placement;
  private final List<StageLoad> stages;
  private final double period;
  private final int batches;
  private final List<RepeatedOp> ops;

  private Pattern(
      Placement placement,
      List<StageLoad> stages,
      double period,
      int batches,
      List<RepeatedOp> ops) {
    this.placement = placement;
    this.stages = stages;
    this.period = period;
    this.batches = batches;
    this.ops = ops;
  }

  /**
   * A pattern of any ops. Shifts are counted on so that the first backward pass of the first stage
   * has shift 0, as in the paper.
   *
   * @param placement of one chain
   * @param period seconds after which everything repeats
   * @param batches in one period: k
   * @param ops for each stage and pass one for each batch of the period
   */
  public static Pattern of(
      Placement placement,
      List<StageLoad> stages,
      double period,
      int batches,
      List<RepeatedOp> ops) {
    Check.positive(period, "period");
    Check.that(batches >= 1, "a pattern has batches: batches=%d", batches);
    Check.that(
        placement.chains() == 1 && placement.stages() == stages.size(),
        "a pattern has one chain, placed stage by stage: chains=%d, placed=%d, stages=%d",
        placement.chains(),
        placement.stages(),
        stages.size());
    BitSet seen = new BitSet();
    for (RepeatedOp op : ops) {
      checkOp(op, stages.size(), period);
      int place = 2 * op.stage() + (op.pass() == Op.Pass.FORWARD ? 0 : 1);
      int key = place * batches + Math.floorMod(op.shift(), batches);
      Check.that(!seen.get(key), "a batch meets an op twice: op=%s", op);
      seen.set(key);
    }
    Check.that(
        ops.size() == 2 * stages.size() * batches,
        "each stage has a forward and a backward per batch: ops=%d, stages=%d, batches=%d",
        ops.size(),
        stages.size(),
        batches);
    List<RepeatedOp> sorted = new ArrayList<>(ops);
    sorted.sort((one, other) -> compare(one, other, stages));
    int first = firstShift(sorted);
    sorted.replaceAll(op -> op.earlierBy(first));
    return new Pattern(placement, List.copyOf(stages), period, batches, List.copyOf(sorted));
  }

  private static void checkOp(RepeatedOp op, int stages, double period) {
    Check.that(
        op.pass() == Op.Pass.FORWARD || op.pass() == Op.Pass.BACKWARD,
        "a pattern has forward and whole backward passes: op=%s",
        op);
    Check.that(
        0 <= op.stage() && op.stage() < stages,
        "stages are 0..%d: stage=%d",
        stages - 1,
        op.stage());
    Check.that(
        0 <= op.start() && op.start() < period,
        "ops start in [0, period): op=%s, start=%s, period=%s",
        op,
        op.start(),
        period);
  }

  /** By start; of those that start together, first what takes no time, then along the chain. */
  private static int compare(RepeatedOp one, RepeatedOp other, List<StageLoad> stages) {
    int byStart = Double.compare(one.start(), other.start());
    if (byStart != 0) {
      return byStart;
    }
    int bySeconds = Double.compare(seconds(one, stages), seconds(other, stages));
    if (bySeconds != 0) {
      return bySeconds;
    }
    return Integer.compare(link(one, stages.size()), link(other, stages.size()));
  }

  private static double seconds(RepeatedOp op, List<StageLoad> stages) {
    StageLoad load = stages.get(op.stage());
    return op.pass() == Op.Pass.FORWARD ? load.forwardSeconds() : load.backwardSeconds();
  }

  /** The place of an op in its batch's chain: forward passes, then backward passes back. */
  static int link(RepeatedOp op, int stages) {
    return op.pass() == Op.Pass.FORWARD ? op.stage() : 2 * stages - 1 - op.stage();
  }

  private static int firstShift(List<RepeatedOp> sorted) {
    for (RepeatedOp op : sorted) {
      if (op.pass() == Op.Pass.BACKWARD && op.stage() == 0) {
        return op.shift();
      }
    }
    return 0;
  }

  public Placement placement() {
    return placement;
  }

  public List<StageLoad> stages() {
    return stages;
  }

  /** Seconds after which everything repeats. */
  public double period() {
    return period;
  }

  /** Batches in one period: k. */
  public int batches() {
    return batches;
  }

  /** Seconds per batch: T / k. */
  public double normalisedPeriod() {
    return period / batches;
  }

  /** All ops by start. */
  public List<RepeatedOp> ops() {
    return ops;
  }

  /** How long an op takes. */
  public double seconds(RepeatedOp op) {
    return seconds(op, stages);
  }

  /** When an op works on batch 0, or would, were that among its batches. */
  double origin(RepeatedOp op) {
    return op.start() - (double) op.shift() / batches * period;
  }

  /**
   * The most batches of each stage that are between the starts of their forward and the ends of
   * their backward passes: NCA of §3.2, counted pass by pass through one period.
   */
  public int[] concurrentActivations() {
    long[] shifts = new long[stages.size()]; // of the forward passes less those of the backward
    for (RepeatedOp op : ops) {
      shifts[op.stage()] += op.pass() == Op.Pass.FORWARD ? op.shift() : -op.shift();
    }
    int[] held = new int[stages.size()];
    int[] most = new int[stages.size()];
    for (int stage = 0; stage < held.length; stage++) {
      held[stage] = Math.toIntExact(shifts[stage] / batches); // exact: both meet all residues
    }
    for (RepeatedOp op : ops) {
      int stage = op.stage();
      held[stage] += op.pass() == Op.Pass.FORWARD ? 1 : -1;
      most[stage] = Math.max(most[stage], held[stage]);
    }
    return most;
  }

  /** Memory of each rank: the state of its stages and the activations they hold at most. */
  public double[] bytes() {
    int[] held = concurrentActivations();
    double[] bytes = new double[placement.ranks()];
    for (int stage = 0; stage < held.length; stage++) {
      StageLoad load = stages.get(stage);
      bytes[placement.rankOf(stage)] += load.stateBytes() + held[stage] * load.activationBytes();
    }
    return bytes;
  }

  /** One line per rank: the ops by start, as {@code 0.0 F1^2}. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (int rank = 0; rank < placement.ranks(); rank++) {
      text.append(rank).append(" |");
      for (RepeatedOp op : ops) {
        if (placement.rankOf(op.stage()) == rank) {
          text.append(' ').append(op.start()).append(' ').append(op);
        }
      }
      text.append('\n');
    }
    return text.toString();
  }
}
