package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.planner.recompute.Recomputation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Pipelines of four stages on two ranks, there and back, in random orders of work. */
class FoldedBoundTest {
  private static final int INSTANCES = 400;
  private static final int ORDERS = 40;
  private static final int STAGES = 4;
  private static final double ROUNDING = 1e-9;

  private record Op(int kind, int stage, int microBatch) {}

  /** A cut of a network into stages, run in some order. */
  private static final class Pipeline {
    final LayerLoads loads;
    final double[] tail;
    final double[] rest;
    final int[] firsts;
    final int microBatches;
    final double[] peak = new double[2]; // bytes
    double seconds;

    Pipeline(SplittableRandom random) {
      int size = random.nextInt(STAGES, 8);
      double[] backward = random.doubles(size, 0.5, 3).toArray();
      double[] none = new double[size];
      this.loads =
          new LayerLoads(
              random.doubles(size, 0.2, 1.5).toArray(),
              backward,
              backward,
              Arrays.stream(backward).map(each -> each * random.nextDouble(0.2, 0.6)).toArray(),
              random.doubles(size, 0.1, 2).toArray(),
              none,
              none,
              none);
      this.tail = random.doubles(size, 0, 3).toArray();
      this.rest = random.doubles(size, 0, 3).toArray();
      this.firsts = new int[STAGES + 1];
      firsts[STAGES] = size;
      for (int stage = 1; stage < STAGES; stage++) {
        firsts[stage] = random.nextInt(firsts[stage - 1] + 1, size - STAGES + stage + 1);
      }
      this.microBatches = random.nextInt(1, 4);
    }

    static int rank(int stage) {
      return Math.min(stage, STAGES - 1 - stage);
    }

    double of(double[] runs, int stage) {
      return Arrays.stream(runs, firsts[stage], firsts[stage + 1]).sum();
    }

    double seconds(Op op) {
      double weights = of(loads.weights(), op.stage());
      return switch (op.kind()) {
        case 0 -> of(loads.forward(), op.stage());
        case 1 -> of(loads.backward(), op.stage()) - weights;
        default -> weights;
      };
    }

    /** Runs all ops in a random order that their inputs allow; sums of gradients last. */
    void run(SplittableRandom random) {
      double[][][] ends = new double[3][STAGES][microBatches];
      Arrays.stream(ends).flatMap(Arrays::stream).forEach(each -> Arrays.fill(each, Double.NaN));
      List<Op> left = new ArrayList<>();
      for (int kind = 0; kind < 3; kind++) {
        for (int stage = 0; stage < STAGES; stage++) {
          for (int microBatch = 0; microBatch < microBatches; microBatch++) {
            left.add(new Op(kind, stage, microBatch));
          }
        }
      }
      double[] free = new double[2];
      double[] held = new double[2];
      int[] last = new int[2];
      Arrays.fill(peak, 0);
      double haste = random.nextDouble(); // how often work is taken as soon as it can run
      while (!left.isEmpty()) {
        List<Op> ready = left.stream().filter(op -> !Double.isNaN(input(op, ends))).toList();
        Op op = ready.get(random.nextInt(ready.size()));
        for (Op other : ready) {
          boolean sooner = start(other, ends, free) < start(op, ends, free);
          op = sooner && random.nextDouble() < haste ? other : op;
        }
        int rank = rank(op.stage());
        double kept = of(loads.kept(), op.stage());
        held[rank] += op.kind() == 0 ? kept : 0;
        peak[rank] = Math.max(peak[rank], held[rank]);
        held[rank] -= op.kind() == 2 ? kept : 0;
        free[rank] = start(op, ends, free) + seconds(op);
        ends[op.kind()][op.stage()][op.microBatch()] = free[rank];
        last[rank] = op.stage();
        left.remove(op);
      }
      seconds = 0;
      for (int rank = 0; rank < 2; rank++) {
        seconds = Math.max(seconds, sums(rank, last[rank], ends[2]));
      }
    }

    private double start(Op op, double[][][] ends, double[] free) {
      return Math.max(free[rank(op.stage())], input(op, ends));
    }

    /** When its inputs are there; NaN where they are not yet known. */
    private static double input(Op op, double[][][] ends) {
      int stage = op.stage();
      int at = op.microBatch();
      return switch (op.kind()) {
        case 0 -> stage == 0 ? 0 : ends[0][stage - 1][at];
        case 1 -> stage == STAGES - 1 ? ends[0][stage][at] : ends[1][stage + 1][at];
        default -> ends[1][stage][at];
      };
    }

    /** When both sums of a rank are done, one after the other. */
    private double sums(int rank, int last, double[][] weights) {
      int other = STAGES - 1 - rank;
      double ofFirst = Arrays.stream(weights[rank]).max().orElseThrow();
      double ofSecond = Arrays.stream(weights[other]).max().orElseThrow();
      double first = of(tail, rank) + (last == rank ? rest[firsts[rank]] : 0);
      double second = of(tail, other);
      return ofFirst < ofSecond
          ? Math.max(ofFirst + first, ofSecond) + second
          : Math.max(ofSecond + second, ofFirst) + first;
    }

    FoldedBound bound(double capacity, double[] states, Recomputation recomputation) {
      double[] none = new double[loads.size()];
      FoldedMemory memory =
          new FoldedMemory(loads, none, states, capacity, 1, new int[0], recomputation);
      return new FoldedBound(loads, memory, tail, rest, new double[2], microBatches);
    }
  }

  @Test
  void noOrderOfWorkIsFaster() {
    int near = 0;
    for (int instance = 0; instance < INSTANCES; instance++) {
      SplittableRandom random = new SplittableRandom(instance);
      Pipeline pipeline = new Pipeline(random);
      double[] states = random.doubles(pipeline.loads.size(), 0, 1).toArray();
      double best = Double.POSITIVE_INFINITY;
      for (int order = 0; order < ORDERS; order++) {
        pipeline.run(random);
        double most = 0;
        for (int rank = 0; rank < 2; rank++) {
          double own = pipeline.of(states, rank) + pipeline.of(states, STAGES - 1 - rank);
          most = Math.max(most, pipeline.peak[rank] + own);
        }
        boolean possible =
            pipeline
                .bound(most, states, Recomputation.NEVER)
                .isPossible(pipeline.seconds * (1 + ROUNDING));
        assertTrue(possible, instance + " " + order);
        best = Math.min(best, pipeline.seconds);
      }
      double[] none = new double[states.length];
      FoldedBound roomy = pipeline.bound(1e9, none, Recomputation.SELECTIVE);
      near += roomy.isPossible(0.8 * best) ? 0 : 1;
      assertFalse(roomy.isPossible(pipeline.microBatches * pipeline.loads.passes() / 2.01));
    }
    assertTrue(near > INSTANCES / 5, "more than 80 % of the best order's: " + near);
  }

  /** A rank that cannot keep its stages recomputes them, or takes longer. */
  @Test
  void littleMemoryTakesTime() {
    int longer = 0;
    for (int instance = 0; instance < INSTANCES; instance++) {
      SplittableRandom random = new SplittableRandom(instance);
      Pipeline pipeline = new Pipeline(random);
      double[] none = new double[pipeline.loads.size()];
      double kept = LayerLoads.sum(pipeline.loads.kept());
      double least = pipeline.microBatches * pipeline.loads.passes() / 2;
      for (double seconds = least; seconds < 3 * least; seconds *= 1.1) {
        boolean roomy = pipeline.bound(1e9, none, Recomputation.SELECTIVE).isPossible(seconds);
        boolean narrow =
            pipeline.bound(kept / 20, none, Recomputation.SELECTIVE).isPossible(seconds);
        boolean keeping = pipeline.bound(kept / 20, none, Recomputation.NEVER).isPossible(seconds);
        assertTrue(!narrow || roomy);
        assertTrue(!keeping || narrow);
        longer += roomy && !narrow ? 1 : 0;
      }
    }
    assertTrue(longer > INSTANCES / 8, "longer " + longer);
  }
}
