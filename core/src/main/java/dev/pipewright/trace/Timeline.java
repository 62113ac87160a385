package dev.pipewright.trace;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.List;

/**
 * What each lane did from when to when, which transfers led from slice to slice, and what each rank
 * held over time: of a step of a plan, simulated or measured, or of a schedule. Seconds from the
 * start of the step; of a schedule in the unit of its op times.
 *
 * @param placement which rank runs which stage
 * @param lanes each rank's, and below it its links with the next, there and back
 * @param memoryUnit what the curves of memory count
 */
public record Timeline(
    Placement placement,
    List<Lane> lanes,
    List<Flow> flows,
    List<Memory> memory,
    MemoryUnit memoryUnit,
    double stepSeconds) {
  public Timeline {
    lanes = List.copyOf(lanes);
    flows = List.copyOf(flows);
    memory = List.copyOf(memory);
    Check.amount(stepSeconds, "step seconds");
  }

  /** A step of a plan with stage {@code i} on rank {@code i}. */
  public Timeline(List<Lane> lanes, List<Flow> flows, List<Memory> memory, double stepSeconds) {
    this(
        Placement.straight(Math.max(1, compute(lanes).size())),
        lanes,
        flows,
        memory,
        MemoryUnit.BYTES,
        stepSeconds);
  }

  /** What occupies a lane. */
  public enum Kind {
    FORWARD,
    BACKWARD,
    BACKWARD_INPUT,
    BACKWARD_WEIGHT,
    RECOMPUTE,
    UPDATE,
    ALL_REDUCE,
    ALL_GATHER,
    /** Parameters, or the sum of gradients so far, arrive from the rank whose turn was before. */
    HAND_ON,
    TRANSFER_FORWARD,
    TRANSFER_BACKWARD;

    /** The kind of an op. */
    public static Kind of(Pass pass) {
      return switch (pass) {
        case FORWARD -> FORWARD;
        case BACKWARD -> BACKWARD;
        case BACKWARD_INPUT -> BACKWARD_INPUT;
        case BACKWARD_WEIGHT -> BACKWARD_WEIGHT;
        case RECOMPUTE -> RECOMPUTE;
        case UPDATE -> UPDATE;
        case REDUCE -> ALL_REDUCE;
        case GATHER -> ALL_GATHER;
        case HAND_ON -> HAND_ON;
      };
    }

    /** Whether ranks exchange parameters or gradients, which may overlap computation. */
    public boolean exchanges() {
      return this == ALL_REDUCE || this == ALL_GATHER || this == HAND_ON;
    }
  }

  /** What curves of memory count. */
  public enum MemoryUnit {
    BYTES,
    /** Activations of a micro-batch and all that a rank has of the network. */
    MICRO_BATCHES
  }

  /** A resource that does one thing at a time. */
  public sealed interface Lane {
    List<Slice> slices();

    /**
     * A rank of a schedule, or all devices of a stage, which run in step: its ops in the order of
     * its program. Exchanges may overlap the others; so do ops that run together, which have the
     * same start and end.
     *
     * @param devices none where a schedule has no devices
     * @param busySeconds what its work takes undisturbed
     * @param spanSeconds from the start of its work to the end
     */
    record Compute(
        int rank, List<Integer> devices, List<Slice> slices, double busySeconds, double spanSeconds)
        implements Lane {
      public Compute {
        devices = List.copyOf(devices);
        slices = List.copyOf(slices);
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
   * @param stage of all chains, as {@link Placement} counts them
   * @param microBatch the micro-batch it belongs to, counted in its chain, or -1 for all; of ops
   *     that belong to none their own number
   */
  public record Slice(Kind kind, int stage, int microBatch, double start, double end) {
    public double seconds() {
      return end - start;
    }

    /**
     * Whether two pieces of work run together: they overlap by more than half of the shorter one,
     * not just by rounding.
     */
    public boolean runsWith(Slice that) {
      double both = Math.min(end, that.end) - Math.max(start, that.start);
      return both > 0.5 * Math.min(seconds(), that.seconds());
    }
  }

  /** What a flow carries. */
  public enum Content {
    ACTIVATIONS,
    GRADIENTS,
    /** What {@link Kind#HAND_ON} receives. */
    STATE
  }

  /**
   * What one rank waits for: from a slice of the lane of rank {@code from}, by its position there,
   * to one of the lane of rank {@code to}.
   */
  public record Flow(Content content, int from, int fromSlice, int to, int toSlice) {}

  /**
   * What a rank, or each device of a stage, holds over time, as steps: {@code bytes[i]} holds from
   * {@code seconds[i]} until the next.
   *
   * @param staticBytes weights, gradients, optimizer state; included in {@code bytes}
   * @param capacity the most that it can or may hold; infinite where there is no limit
   * @param bytes in the timeline's unit of memory
   */
  public record Memory(
      int rank, double staticBytes, double capacity, double[] seconds, double[] bytes) {
    public double peak() {
      double peak = staticBytes;
      for (double value : bytes) {
        peak = Math.max(peak, value);
      }
      return peak;
    }
  }

  /** The lanes of ranks, by rank. */
  public List<Lane.Compute> compute() {
    return compute(lanes);
  }

  private static List<Lane.Compute> compute(List<Lane> lanes) {
    List<Lane.Compute> compute = new ArrayList<>();
    for (Lane lane : lanes) {
      if (lane instanceof Lane.Compute rank) {
        compute.add(rank);
      }
    }
    return compute;
  }

  /** Share of the step for which a rank has no work, or only what stretches it. */
  public double idleShare(int rank) {
    double busy = 0;
    for (Lane.Compute lane : compute()) {
      busy += lane.rank() == rank ? lane.busySeconds() : 0;
    }
    return stepSeconds == 0 ? 0 : 1 - busy / stepSeconds;
  }

  /** The same of all devices, or of all ranks where there are none, on average. */
  public double idleShare() {
    double idle = 0;
    int devices = 0;
    for (Lane.Compute lane : compute()) {
      int members = Math.max(1, lane.devices().size());
      idle += members * idleShare(lane.rank());
      devices += members;
    }
    return idle / devices;
  }

  /**
   * The part of the longest span, from a rank's first work to its last, in which the busiest rank
   * is idle: the next step may fill the rest.
   */
  public double spanIdleShare() {
    double longest = 0;
    double busiest = 0;
    for (Lane.Compute lane : compute()) {
      longest = Math.max(longest, lane.spanSeconds());
      busiest = Math.max(busiest, lane.busySeconds());
    }
    return longest == 0 ? 0 : 1 - busiest / longest;
  }
}
