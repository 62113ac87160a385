package dev.pipewright.trace;

import dev.pipewright.units.Check;
import java.util.List;

/**
 * One training step: what each lane did from when to when, which transfers led from slice to slice,
 * and the memory of each rank over time. Seconds from the start of the step.
 */
public record Timeline(
    List<Lane> lanes, List<Flow> flows, List<Memory> memory, double stepSeconds) {
  public Timeline {
    lanes = List.copyOf(lanes);
    flows = List.copyOf(flows);
    memory = List.copyOf(memory);
    Check.amount(stepSeconds, "step seconds");
  }

  /** What occupies a lane. */
  public enum Kind {
    FORWARD,
    BACKWARD,
    TRANSFER_FORWARD,
    TRANSFER_BACKWARD,
    ALL_REDUCE,
    UPDATE
  }

  /** A resource that does one thing at a time. */
  public sealed interface Lane {
    List<Slice> slices();

    /**
     * All devices of a stage: they run in step.
     *
     * @param stretchedSeconds by which forward and backward passes took longer than undisturbed
     */
    record Compute(int stage, List<Integer> devices, List<Slice> slices, double stretchedSeconds)
        implements Lane {
      public Compute {
        devices = List.copyOf(devices);
        slices = List.copyOf(slices);
      }

      /** Nothing disturbs them. */
      public Compute(int stage, List<Integer> devices, List<Slice> slices) {
        this(stage, devices, slices, 0);
      }

      /** Seconds that forward and backward passes take undisturbed. */
      double busy() {
        double passes = slices.stream().filter(Slice::passes).mapToDouble(Slice::seconds).sum();
        return passes - stretchedSeconds;
      }

      /** Seconds from the first forward or backward pass to the end of the last. */
      double span() {
        List<Slice> passes = slices.stream().filter(Slice::passes).toList();
        return passes.isEmpty() ? 0 : passes.getLast().end() - passes.getFirst().start();
      }
    }

    /** One direction of the link between a stage and the next. */
    record Link(int from, int to, List<Slice> slices) implements Lane {
      public Link {
        slices = List.copyOf(slices);
      }
    }
  }

  /**
   * One piece of work, in order of time within its lane.
   *
   * @param microBatch the micro-batch it belongs to, or -1 for all
   */
  public record Slice(Kind kind, int stage, int microBatch, double start, double end) {
    public double seconds() {
      return end - start;
    }

    private boolean passes() {
      return kind == Kind.FORWARD || kind == Kind.BACKWARD;
    }
  }

  /**
   * Data that one compute lane waits for: from a slice of stage {@code from} to one of stage {@code
   * to}.
   */
  public record Flow(
      int from, int to, int microBatch, boolean forward, double sent, double received) {}

  /**
   * Bytes on each device of a stage over time, as steps: {@code bytes[i]} holds from {@code
   * seconds[i]} until the next.
   *
   * @param staticBytes weights, gradients, optimizer state; included in {@code bytes}
   */
  public record Memory(int stage, double staticBytes, double[] seconds, double[] bytes) {
    public double peak() {
      double peak = staticBytes;
      for (double value : bytes) {
        peak = Math.max(peak, value);
      }
      return peak;
    }
  }

  /**
   * Share of the step for which the compute lane of {@code stage} has no forward or backward pass,
   * or only what stretches them.
   */
  public double idleShare(int stage) {
    double busy = 0;
    for (Lane lane : lanes) {
      if (lane instanceof Lane.Compute compute && compute.stage() == stage) {
        busy += compute.busy();
      }
    }
    return stepSeconds == 0 ? 0 : 1 - busy / stepSeconds;
  }

  /**
   * The part of the longest span, from a compute lane's first forward or backward pass to its last,
   * in which the busiest lane is idle: the next step may fill the rest.
   */
  public double spanIdleShare() {
    double longest = 0;
    double busiest = 0;
    for (Lane lane : lanes) {
      if (lane instanceof Lane.Compute compute) {
        longest = Math.max(longest, compute.span());
        busiest = Math.max(busiest, compute.busy());
      }
    }
    return longest == 0 ? 0 : 1 - busiest / longest;
  }
}
