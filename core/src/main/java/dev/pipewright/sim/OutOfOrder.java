package dev.pipewright.sim;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import java.util.Arrays;
import java.util.BitSet;
import java.util.function.LongPredicate;

/**
 * Out-of-order execution of one rank's program: an op whose inputs are there may run before a few
 * that still wait for theirs, as long as the rank never holds more activations than in program
 * order. Grouped ops, updates and exchanges keep their place.
 */
final class OutOfOrder {
  static final int NONE = -1;

  private final long[] program;
  private final int lookAhead;
  private final int peak; // of activations, in the program's order
  private final BitSet early = new BitSet(); // positions that have overtaken others
  private final int[] order;
  private int count; // of the order
  private int held;

  OutOfOrder(long[] program, int lookAhead) {
    this.program = program;
    this.lookAhead = lookAhead;
    this.order = new int[program.length];
    int now = 0;
    int most = 0;
    for (long op : program) {
      now += taken(op);
      most = Math.max(most, now);
      now -= released(op);
    }
    peak = most;
  }

  private static int taken(long op) {
    return Schedule.pass(op) == Pass.FORWARD ? 1 : 0;
  }

  private static int released(long op) {
    return Schedule.pass(op).releases() ? 1 : 0;
  }

  /** The first op behind {@code next} that may run instead of it; {@link #NONE} where none may. */
  int instead(int next, LongPredicate ready) {
    int holds = held;
    int most = holds;
    int end = Math.min(program.length - 1, next + lookAhead);
    for (int at = next; at <= end && mayBeOvertaken(at); at++) {
      if (early.get(at)) {
        continue;
      }
      long op = program[at];
      if (at > next && ready.test(op) && (taken(op) == 0 || Math.max(most, holds) < peak)) {
        return at;
      }
      holds += taken(op);
      most = Math.max(most, holds);
      holds -= released(op);
    }
    return NONE;
  }

  private boolean mayBeOvertaken(int at) {
    Pass pass = Schedule.pass(program[at]);
    boolean together =
        Schedule.isJoined(program[at]) || (at > 0 && Schedule.isJoined(program[at - 1]));
    return !together && pass != Pass.UPDATE && !pass.exchanges();
  }

  void ranEarly(int position) {
    early.set(position);
  }

  boolean isDone(int position) {
    return early.get(position);
  }

  void ended(long op) {
    held += taken(op) - released(op);
  }

  void begun(int position) {
    order[count++] = position;
  }

  /** The positions of the program in the order in which it was their turn. */
  int[] order() {
    return order.clone();
  }

  static double[] sorted(double[] values, int[] order) {
    return Arrays.stream(order).mapToDouble(i -> values[i]).toArray();
  }
}
