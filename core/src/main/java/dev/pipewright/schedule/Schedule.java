package dev.pipewright.schedule;

import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The ordered program of every rank. A rank is one place in the pipeline: a device, or all replicas
 * of a stage, which run the same program on their slices. A {@link Placement} says which stages a
 * rank runs: usually rank {@code i} runs stage {@code i}.
 *
 * <p>Programs are packed, one {@code long} per op, because a schedule of 64 stages and 4,096
 * micro-batches has half a million of them; {@link #program} shows them as {@link Op}.
 */
public final class Schedule {
  private static final Op.Pass[] PASSES = Op.Pass.values();
  private static final long EXCHANGES = exchanges(); // a bit for each
  private static final long JOINED = 1L << 55;

  private final String name;
  private final Placement placement;
  private final int microBatches;
  private final long[][] programs;
  private final boolean exchanging;
  private volatile int @Nullable [][] gradientPasses; // by rank and stage, once they are asked for

  /** Rank {@code i} runs stage {@code i}. */
  public Schedule(String name, int stages, int microBatches, long[][] programs) {
    this(name, Placement.straight(stages), microBatches, programs);
  }

  /**
   * Programs as made by {@link #pack}, one per rank; the arrays become the schedule's own.
   *
   * @param microBatches of each chain
   */
  public Schedule(String name, Placement placement, int microBatches, long[][] programs) {
    Check.that(microBatches >= 1, "a schedule has micro-batches: micro_batches=%d", microBatches);
    Check.that(
        programs.length == placement.ranks(),
        "one program per rank: programs=%d, ranks=%d",
        programs.length,
        placement.ranks());
    this.name = name;
    this.placement = placement;
    this.microBatches = microBatches;
    this.programs = programs;
    this.exchanging = exchanging(programs);
  }

  private static boolean exchanging(long[][] programs) {
    for (long[] program : programs) {
      if ((passes(program) & EXCHANGES) != 0) {
        return true;
      }
    }
    return false;
  }

  /** The kinds of a program's ops, a bit for each. */
  private static long passes(long[] program) {
    long passes = 0;
    for (long op : program) {
      passes |= 1L << code(op);
    }
    return passes;
  }

  private static long exchanges() {
    long exchanges = 0;
    for (Op.Pass pass : PASSES) {
      exchanges |= pass.exchanges() ? 1L << pass.code() : 0;
    }
    return exchanges;
  }

  /** One op as a number. */
  public static long pack(Op.Pass pass, int stage, int microBatch) {
    return (long) pass.code() << 56 | (long) stage << 32 | microBatch;
  }

  /** The same op, run together with the one that follows it in the program. */
  public static long joined(long op) {
    return op | JOINED;
  }

  public static boolean isJoined(long op) {
    return (op & JOINED) != 0;
  }

  public static Op.Pass pass(long op) {
    return PASSES[code(op)];
  }

  /** The {@linkplain Op.Pass#code number} of an op's pass. */
  public static int code(long op) {
    return (int) (op >>> 56);
  }

  public static int stage(long op) {
    return (int) (op >>> 32) & 0x7FFFFF;
  }

  public static int microBatch(long op) {
    return (int) op;
  }

  public String name() {
    return name;
  }

  /** The same by another name. */
  public Schedule named(String other) {
    return new Schedule(other, placement, microBatches, programs);
  }

  public Placement placement() {
    return placement;
  }

  /** Stages of all chains. */
  public int stages() {
    return placement.stages();
  }

  /** Micro-batches of each chain. */
  public int microBatches() {
    return microBatches;
  }

  public int ranks() {
    return programs.length;
  }

  /** The packed program of a rank. The array is the schedule's own: read only. */
  public long[] packed(int rank) {
    return programs[rank];
  }

  public List<Op> program(int rank) {
    List<Op> ops = new ArrayList<>(programs[rank].length);
    for (long op : programs[rank]) {
      ops.add(new Op(pass(op), stage(op), microBatch(op)));
    }
    return ops;
  }

  /** Passes of a rank that complete gradients of a stage of a chain; counted once. */
  public int gradientPasses(int rank, int depth) {
    int[][] counted = gradientPasses;
    if (counted == null) {
      counted = countedGradientPasses();
      gradientPasses = counted;
    }
    return counted[rank][depth];
  }

  private int[][] countedGradientPasses() {
    int[][] passes = new int[programs.length][placement.depth()];
    for (int rank = 0; rank < programs.length; rank++) {
      for (long op : programs[rank]) {
        passes[rank][stage(op) % placement.depth()] += pass(op).releases() ? 1 : 0;
      }
    }
    return passes;
  }

  /** Whether ranks exchange parameters or gradients anywhere in it. */
  public boolean exchanging() {
    return exchanging;
  }

  /** How many ops all ranks have together. */
  public long size() {
    long size = 0;
    for (long[] program : programs) {
      size += program.length;
    }
    return size;
  }
}
