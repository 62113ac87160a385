package dev.pipewright.compare;

import dev.pipewright.compare.MeasuredPipeline.Iteration;
import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OncePerStepTimes;
import dev.pipewright.schedule.search.OpTimes;
import java.util.Arrays;
import java.util.List;

/**
 * Medians of measured passes, by stage.
 *
 * <p>What a rank does between two passes of which the second need not wait, such as starting
 * kernels and messages, is its {@code turnaround}. What a rank waits from the end of a pass
 * elsewhere to the begin of its own is a transfer; only passes tell it whose rank was idle before.
 *
 * @param forward seconds of a forward pass of each stage
 * @param backward seconds of a backward pass, or of its input-gradient part where it has two
 * @param weight seconds of the weight-gradient part; 0 where a backward pass is whole
 * @param there seconds from the end of each stage's forward pass to the begin of the next stage's
 * @param back seconds from the end of each stage's backward pass to the begin of the one before's,
 *     by the stage that waits
 * @param turnaround seconds between two passes of each stage's rank
 */
public record PassMedians(
    double[] forward,
    double[] backward,
    double[] weight,
    double[] there,
    double[] back,
    double[] turnaround) {

  static PassMedians of(Iterable<Iteration> iterations) {
    Collected collected = null;
    for (Iteration iteration : iterations) {
      if (collected == null) {
        collected = new Collected(iteration.schedule().placement());
      }
      collected.add(iteration);
    }
    if (collected == null) {
      throw new IllegalArgumentException("medians need an iteration");
    }
    return collected.medians();
  }

  /**
   * The medians as a simulator takes them: a pass takes its rank's turnaround in addition. It is
   * sent on before that, so transfers are shorter by it.
   */
  OpTimes times() {
    double[] split = weight.clone();
    for (int i = 0; i < split.length; i++) {
      split[i] += split[i] > 0 ? turnaround[i] : 0;
    }
    return new OpTimes(
        sum(forward, turnaround),
        sum(backward, turnaround),
        split,
        forward,
        difference(there, turnaround, 0),
        difference(back, turnaround, 1),
        OncePerStepTimes.none(forward.length),
        false);
  }

  private static double[] sum(double[] a, double[] b) {
    double[] sum = new double[a.length];
    Arrays.setAll(sum, i -> a[i] + b[i]);
    return sum;
  }

  private static double[] difference(double[] transfer, double[] turnaround, int sender) {
    double[] rest = new double[transfer.length];
    Arrays.setAll(
        rest,
        i -> Math.max(0, transfer[i] - turnaround[Math.min(i + sender, transfer.length - 1)]));
    return rest;
  }

  /** Samples of all stages. */
  private static final class Collected {
    private final Placement placement;
    private final Samples[] forward;
    private final Samples[] backward;
    private final Samples[] weight;
    private final Samples[] there;
    private final Samples[] back;
    private final Samples[] turnaround; // by rank

    Collected(Placement placement) {
      this.placement = placement;
      forward = Samples.of(placement.stages());
      backward = Samples.of(placement.stages());
      weight = Samples.of(placement.stages());
      there = Samples.of(placement.stages());
      back = Samples.of(placement.stages());
      turnaround = Samples.of(placement.ranks());
    }

    void add(Iteration iteration) {
      Schedule schedule = iteration.schedule();
      double[][] sent = ends(iteration);
      for (int rank = 0; rank < schedule.ranks(); rank++) {
        List<Op> program = schedule.program(rank);
        double free = Double.NaN; // when the rank's pass before ended
        for (int i = 0; i < program.size(); i++) {
          Op op = program.get(i);
          double start = iteration.starts()[rank][i];
          double end = iteration.ends()[rank][i];
          of(op.pass())[op.stage()].add(end - start);
          gap(op, sent, free, start, rank);
          free = end;
        }
      }
    }

    private Samples[] of(Pass pass) {
      return switch (pass) {
        case FORWARD -> forward;
        case BACKWARD_WEIGHT -> weight;
        default -> backward;
      };
    }

    /** What came before a pass: its rank's own work, or a message. */
    private void gap(Op op, double[][] sent, double free, double start, int rank) {
      int from = source(op);
      boolean local = from < 0 || placement.rankOf(from) == rank;
      double ready = local ? 0 : sent[row(op, from)][op.microBatch()];
      if (local || ready <= free) {
        if (!Double.isNaN(free)) {
          turnaround[rank].add(start - free);
        }
        return;
      }
      boolean onwards = op.pass() == Pass.FORWARD;
      (onwards ? there[from] : back[op.stage()]).add(start - ready);
    }

    /** The stage whose pass this one waits for; -1 for none. */
    private int source(Op op) {
      if (op.pass() == Pass.FORWARD) {
        return placement.first(op.stage()) ? -1 : op.stage() - 1;
      }
      return op.pass().propagates() && !placement.last(op.stage()) ? op.stage() + 1 : -1;
    }

    private int row(Op op, int from) {
      return op.pass() == Pass.FORWARD ? from : placement.stages() + from;
    }

    /** Ends of forward passes, then of backward passes, by stage and micro-batch. */
    private double[][] ends(Iteration iteration) {
      Schedule schedule = iteration.schedule();
      double[][] ends = new double[2 * placement.stages()][schedule.microBatches()];
      for (int rank = 0; rank < schedule.ranks(); rank++) {
        List<Op> program = schedule.program(rank);
        for (int i = 0; i < program.size(); i++) {
          Op op = program.get(i);
          if (op.pass() != Pass.BACKWARD_WEIGHT) {
            ends[row(op, op.stage())][op.microBatch()] = iteration.ends()[rank][i];
          }
        }
      }
      return ends;
    }

    PassMedians medians() {
      double[] between = new double[placement.stages()];
      Arrays.setAll(between, stage -> turnaround[placement.rankOf(stage)].median());
      return new PassMedians(
          Samples.medians(forward),
          Samples.medians(backward),
          Samples.medians(weight),
          Samples.medians(there),
          Samples.medians(back),
          between);
    }
  }

  /** Numbers whose median is wanted. */
  private static final class Samples {
    private double[] values = new double[16];
    private int size;

    static Samples[] of(int count) {
      Samples[] all = new Samples[count];
      Arrays.setAll(all, i -> new Samples());
      return all;
    }

    static double[] medians(Samples[] all) {
      return Arrays.stream(all).mapToDouble(Samples::median).toArray();
    }

    void add(double value) {
      if (size == values.length) {
        values = Arrays.copyOf(values, 2 * size);
      }
      values[size++] = Math.max(0, value);
    }

    /** 0 where there is no number. */
    double median() {
      if (size == 0) {
        return 0;
      }
      double[] sorted = Arrays.copyOf(values, size);
      Arrays.sort(sorted);
      return (sorted[(size - 1) / 2] + sorted[size / 2]) / 2;
    }
  }
}
