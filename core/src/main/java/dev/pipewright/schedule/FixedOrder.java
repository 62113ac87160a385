package dev.pipewright.schedule;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.units.Check;
import java.util.Arrays;

/** A schedule given by its programs, with any placement of stages and number of directions. */
public final class FixedOrder implements ScheduleSpec {
  private final Schedule order;
  private final int[] inFlight; // by stage of a chain
  private final boolean splitsBackward;

  private FixedOrder(Schedule order) {
    this.order = order;
    this.inFlight = inFlight(order);
    this.splitsBackward = splitsBackward(order);
  }

  /**
   * The order of one synchronous step.
   *
   * @param order passes only; sums of gradients and updates follow from them ({@link StepEnd})
   */
  public static FixedOrder of(Schedule order) {
    for (int rank = 0; rank < order.ranks(); rank++) {
      for (long op : order.packed(rank)) {
        Pass pass = Schedule.pass(op);
        Check.that(
            !pass.exchanges() && pass != Pass.UPDATE,
            "%s updates parameters within its order, so that it is no synchronous step: rank=%d",
            order.name(),
            rank);
      }
    }
    return new FixedOrder(order);
  }

  /** Stages of a chain. */
  public int stages() {
    return order.placement().depth();
  }

  /** Micro-batches of a step, of all directions. */
  public int microBatches() {
    return order.microBatches() * order.placement().chains();
  }

  /** The programs of all ranks. */
  public Schedule order() {
    return order;
  }

  @Override
  public String scheduleName() {
    return order.name();
  }

  @Override
  public Placement placement(int stages) {
    Check.that(
        stages == stages(),
        "%s has %d stages here, the plan %d; give each stage its layers",
        order.name(),
        stages(),
        stages);
    return order.placement();
  }

  /** The most micro-batches of its chain that each stage holds at once. */
  @Override
  public int[] inFlight(int stages, int microBatches) {
    placement(stages); // throws for another number
    return inFlight.clone();
  }

  private static int[] inFlight(Schedule order) {
    int depth = order.placement().depth();
    int[] now = new int[order.stages()];
    int[] most = new int[depth];
    for (int rank = 0; rank < order.ranks(); rank++) {
      long[] program = order.packed(rank);
      int releasing = 0; // ops of a joined run that free activations at its end
      for (int i = 0; i < program.length; i++) {
        int stage = Schedule.stage(program[i]);
        if (Schedule.pass(program[i]) == Pass.FORWARD) {
          now[stage]++;
          most[stage % depth] = Math.max(most[stage % depth], now[stage]);
        }
        releasing++;
        if (!Schedule.isJoined(program[i])) {
          for (int op = i + 1 - releasing; op <= i; op++) {
            now[Schedule.stage(program[op])] -= Schedule.pass(program[op]).releases() ? 1 : 0;
          }
          releasing = 0;
        }
      }
    }
    return most;
  }

  @Override
  public void check(int microBatches, int[] inFlight) {
    Check.that(
        microBatches == microBatches(),
        "%s has %d micro-batches here, the plan %d",
        order.name(),
        microBatches(),
        microBatches);
    int[] held = inFlight(inFlight.length, microBatches);
    for (int stage = 0; stage < held.length; stage++) {
      Check.that(
          inFlight[stage] == held[stage],
          "%s has its own number of micro-batches in flight: stage=%d, in_flight=%d; take %d",
          order.name(),
          stage,
          inFlight[stage],
          held[stage]);
    }
  }

  @Override
  public boolean splitsBackward() {
    return splitsBackward;
  }

  private static boolean splitsBackward(Schedule order) {
    for (int rank = 0; rank < order.ranks(); rank++) {
      for (long op : order.packed(rank)) {
        if (Schedule.pass(op) == Pass.BACKWARD_WEIGHT) {
          return true;
        }
      }
    }
    return false;
  }

  @Override
  public Schedule schedule(int microBatches, int[] inFlight) {
    return order;
  }

  /** Whether the programs and the placement are the same. */
  @Override
  public boolean equals(Object other) {
    return other instanceof FixedOrder fixed
        && order.name().equals(fixed.order.name())
        && order.microBatches() == fixed.order.microBatches()
        && order.placement().equals(fixed.order.placement())
        && Arrays.deepEquals(programs(order), programs(fixed.order));
  }

  @Override
  public int hashCode() {
    return 31 * order.name().hashCode() + Arrays.deepHashCode(programs(order));
  }

  private static long[][] programs(Schedule order) {
    long[][] programs = new long[order.ranks()][];
    Arrays.setAll(programs, order::packed);
    return programs;
  }

  @Override
  public String toString() {
    return order.name();
  }
}
