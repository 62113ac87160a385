package dev.pipewright.schedule.cyclic;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Program;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.units.Check;
import java.util.Arrays;

/**
 * Workers in step, each with all stages and a micro-batch of its own: what cyclic data parallelism
 * is compared with (arXiv:2403.08837, §3.1 and figure 1a; §4.4 for {@link #zero}).
 *
 * <p>Worker {@code i} is rank {@code i} and its stages are chain {@code i}; a chain's micro-batches
 * are the training steps. Every worker holds all its activations at once, at the end of the forward
 * pass. O(ops).
 */
public final class DataParallel {
  /** When the gradients of a stage are reduced. */
  public enum Reduction {
    /** Right after its backward pass, overlapped with those that follow. */
    OVERLAPPED,
    /** Behind all backward passes of the step. */
    AT_END
  }

  private DataParallel() {}

  /** Each worker with a copy of the whole network, updated behind each step. */
  public static Schedule of(int workers, int stages, int steps, Reduction reduction) {
    return make("dp", workers, stages, steps, first -> plain(first, stages, steps, reduction));
  }

  /**
   * ZeRO stage 3: the states of stage {@code j} live on worker {@code j}. All workers get a stage's
   * parameters for its forward pass and again for its backward pass, one stage ahead, and keep
   * none; only the last stage's serve both passes. Its gradients are reduced behind its backward
   * pass, and its owner updates it a stage later.
   *
   * <p>Paper: S. Rajbhandari et al., <i>ZeRO: Memory Optimizations Toward Training Trillion
   * Parameter Models</i>, SC 2020, arXiv:1910.02054, §5 and §7, as arXiv:2403.08837, §4.4 draws it.
   */
  public static Schedule zero(int workers, int steps) {
    return make("zero-dp", workers, workers, steps, first -> sharded(first, workers, steps));
  }

  private interface Worker {
    /** The program of the worker whose stages are counted from {@code first}. */
    long[] program(int first);
  }

  private static Schedule make(String name, int workers, int stages, int steps, Worker worker) {
    Check.that(
        workers >= 1 && stages >= 1 && steps >= 1,
        "data parallelism has workers, stages and steps: workers=%d, stages=%d, steps=%d",
        workers,
        stages,
        steps);
    int[] rankOf = new int[Math.multiplyExact(workers, stages)];
    Arrays.setAll(rankOf, stage -> stage / stages);
    long[][] programs = new long[workers][];
    Arrays.setAll(programs, rank -> worker.program(rank * stages));
    return new Schedule(name, Placement.of(workers, workers, rankOf), steps, programs);
  }

  private static long[] plain(int first, int stages, int steps, Reduction reduction) {
    Program program = new Program(Math.multiplyExact(4 * stages, steps));
    int last = first + stages - 1;
    for (int step = 0; step < steps; step++) {
      for (int stage = first; stage <= last; stage++) {
        program.add(Pass.FORWARD, stage, step);
      }
      for (int stage = last; stage >= first; stage--) {
        program.add(Pass.BACKWARD, stage, step);
        if (reduction == Reduction.OVERLAPPED) {
          program.add(Pass.REDUCE, stage, step);
        }
      }
      for (int stage = last; stage >= first && reduction == Reduction.AT_END; stage--) {
        program.add(Pass.REDUCE, stage, step);
      }
      for (int stage = last; stage >= first; stage--) {
        program.add(Pass.UPDATE, stage, step);
      }
    }
    return program.packed();
  }

  private static long[] sharded(int first, int workers, int steps) {
    Program program = new Program(Math.multiplyExact(5 * workers, steps));
    int last = first + workers - 1;
    int owned = first + first / workers;
    for (int step = 0; step < steps; step++) {
      program.add(Pass.GATHER, first, 2 * step);
      for (int stage = first; stage <= last; stage++) {
        if (stage < last) {
          program.add(Pass.GATHER, stage + 1, 2 * step);
        }
        program.add(Pass.FORWARD, stage, step);
      }
      for (int stage = last; stage >= first; stage--) {
        if (stage > first) {
          program.add(Pass.GATHER, stage - 1, 2 * step + 1);
        }
        program.add(Pass.BACKWARD, stage, step);
        program.add(Pass.REDUCE, stage, step);
        if (stage + 1 == owned) {
          program.add(Pass.UPDATE, owned, step);
        }
      }
      if (owned == first) {
        program.add(Pass.UPDATE, owned, step);
      }
    }
    return program.packed();
  }
}
