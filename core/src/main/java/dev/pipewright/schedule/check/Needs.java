package dev.pipewright.schedule.check;

import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator.Place;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What every op waits for beside those before it on its stream. A rank has two: one computes, one
 * exchanges. Ops are counted on from rank to rank; {@link #NONE} stands for no op.
 *
 * <p>For schedules whose work is complete.
 */
final class Needs {
  static final int NONE = -1;

  /** The most ops that one op waits for. */
  static final int MOST = 3;

  private static final Pass[] PASSES = Pass.values();

  private final Schedule schedule;
  private final Placement placement;
  private final int[] offsets; // by rank
  private final int[] forward; // by stage and micro-batch
  private final int[] backward; // the whole, or the input's gradient
  private final int[] recompute;
  private final int[] other; // by op: of its rank's other stream, the last before it that counts
  private final int[] user; // by op: the one that uses what was handed on before it
  private final int[] meeting; // by op
  private final List<int[]> members = new ArrayList<>(); // by meeting

  Needs(Schedule schedule) {
    this.schedule = schedule;
    this.placement = schedule.placement();
    offsets = new int[schedule.ranks() + 1];
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      offsets[rank + 1] = Math.addExact(offsets[rank], schedule.packed(rank).length);
    }
    int places = Math.multiplyExact(schedule.stages(), schedule.microBatches());
    forward = nothing(places);
    backward = nothing(places);
    boolean again = false;
    boolean exchanges = false;
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      long[] program = schedule.packed(rank);
      for (int i = 0; i < program.length; i++) {
        Pass pass = Schedule.pass(program[i]);
        if (pass == Pass.FORWARD) {
          forward[place(program[i])] = offsets[rank] + i;
        } else if (pass.propagates()) {
          backward[place(program[i])] = offsets[rank] + i;
        }
        again |= pass == Pass.RECOMPUTE;
        exchanges |= pass.exchanges();
      }
    }
    recompute = nothing(again ? places : 0);
    int ops = exchanges ? offsets[schedule.ranks()] : 0;
    other = nothing(ops);
    user = nothing(ops);
    meeting = nothing(ops);
    if (again) {
      recomputations();
    }
    if (exchanges) {
      streams();
      meetings();
      turns();
    }
  }

  private static int[] nothing(int size) {
    int[] nothing = new int[size];
    Arrays.fill(nothing, NONE);
    return nothing;
  }

  private int place(long op) {
    return Schedule.stage(op) * schedule.microBatches() + Schedule.microBatch(op);
  }

  private void recomputations() {
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      long[] program = schedule.packed(rank);
      for (int i = 0; i < program.length; i++) {
        if (Schedule.pass(program[i]) == Pass.RECOMPUTE) {
          recompute[place(program[i])] = offsets[rank] + i;
        }
      }
    }
  }

  /** An exchange waits for all that computes before it, that for the exchanges of its stage. */
  private void streams() {
    int[] lastExchange = nothing(schedule.stages());
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      long[] program = schedule.packed(rank);
      int lastComputing = NONE;
      for (int i = 0; i < program.length; i++) {
        int stage = Schedule.stage(program[i]);
        if (Schedule.pass(program[i]).exchanges()) {
          other[offsets[rank] + i] = lastComputing;
          lastExchange[stage] = offsets[rank] + i;
        } else {
          other[offsets[rank] + i] = lastExchange[stage];
          lastComputing = offsets[rank] + i;
        }
      }
    }
  }

  private void meetings() {
    KeyNumbers meetings = new KeyNumbers();
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      long[] program = schedule.packed(rank);
      for (int i = 0; i < program.length; i++) {
        Pass pass = Schedule.pass(program[i]);
        if (pass == Pass.REDUCE || pass == Pass.GATHER) {
          meeting[offsets[rank] + i] = meetings.of(key(program[i], 0));
        }
      }
    }
    int[] sizes = new int[meetings.size()];
    for (int each : meeting) {
      if (each != NONE) {
        sizes[each]++;
      }
    }
    for (int size : sizes) {
      members.add(new int[size]);
    }
    for (int op = meeting.length - 1; op >= 0; op--) {
      if (meeting[op] != NONE) {
        members.get(meeting[op])[--sizes[meeting[op]]] = op;
      }
    }
  }

  /** The same op of all chains, its number changed. */
  private long key(long op, int more) {
    int stage = Schedule.stage(op) % placement.depth();
    return key(Schedule.pass(op), Schedule.microBatch(op) + more, stage, placement.depth());
  }

  /** Numbers that lie densely, as hash tables like them. */
  static long key(Pass pass, int number, int stage, int stages) {
    return ((long) number * stages + stage) * PASSES.length + pass.code();
  }

  /** The op of a key. */
  static Op op(long key, int stages) {
    long place = key / PASSES.length;
    return new Op(
        PASSES[(int) (key % PASSES.length)], (int) (place % stages), (int) (place / stages));
  }

  /** A turn waits for the op that uses what was handed on in the turn before. */
  private void turns() {
    KeyNumbers turns = new KeyNumbers();
    int[] users = nothing(size());
    int[] next = nothing(schedule.stages()); // by stage: the op behind
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      long[] program = schedule.packed(rank);
      for (int i = program.length - 1; i >= 0; i--) {
        int stage = Schedule.stage(program[i]);
        if (Schedule.pass(program[i]) == Pass.HAND_ON) {
          users[turns.of(key(program[i], 1))] = next[stage];
        } else if (Schedule.pass(program[i]).endsTurn()) {
          next[stage] = offsets[rank] + i;
        }
      }
    }
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      long[] program = schedule.packed(rank);
      for (int i = 0; i < program.length; i++) {
        if (Schedule.pass(program[i]) == Pass.HAND_ON && Schedule.microBatch(program[i]) > 0) {
          user[offsets[rank] + i] = users[turns.find(key(program[i], 0))];
        }
      }
    }
  }

  int op(int rank, int position) {
    return offsets[rank] + position;
  }

  int size() {
    return offsets[schedule.ranks()];
  }

  int rank(int op) {
    int at = Arrays.binarySearch(offsets, op);
    if (at < 0) {
      return -at - 2;
    }
    while (offsets[at + 1] == op) { // ranks without a program
      at++;
    }
    return at;
  }

  /** Writes what an op waits for to {@code needs}; returns how many these are. */
  int of(int rank, int position, int[] needs) {
    long op = schedule.packed(rank)[position];
    int stage = Schedule.stage(op);
    int count = 0;
    if (other.length > 0 && other[offsets[rank] + position] != NONE) {
      needs[count++] = other[offsets[rank] + position];
    }
    switch (Schedule.pass(op)) {
      case FORWARD -> {
        if (!placement.first(stage)) {
          needs[count++] = forward[place(op) - schedule.microBatches()];
        }
      }
      case BACKWARD, BACKWARD_INPUT -> {
        needs[count++] = forward[place(op)];
        if (!placement.last(stage)) {
          needs[count++] = backward[place(op) + schedule.microBatches()];
        }
      }
      case BACKWARD_WEIGHT -> needs[count++] = backward[place(op)];
      case RECOMPUTE -> needs[count++] = forward[place(op)];
      case HAND_ON -> {
        if (user[offsets[rank] + position] != NONE) {
          needs[count++] = user[offsets[rank] + position];
        }
      }
      case UPDATE, REDUCE, GATHER -> {}
    }
    return count;
  }

  /** The recomputation of a backward pass; {@link #NONE} where there is none. */
  int recomputation(long op) {
    return recompute.length > 0 && Schedule.pass(op).propagates() ? recompute[place(op)] : NONE;
  }

  /** Where the turn before a hand-on stands. */
  Place turnBefore(int rank, int position) {
    long wanted = key(schedule.packed(rank)[position], -1);
    for (int other = 0; other < schedule.ranks(); other++) {
      long[] program = schedule.packed(other);
      for (int i = 0; i < program.length; i++) {
        if (Schedule.pass(program[i]) == Pass.HAND_ON && key(program[i], 0) == wanted) {
          return Place.of(schedule, other, i);
        }
      }
    }
    throw new IllegalArgumentException("there is no turn before: rank=" + rank);
  }

  /** What uses a stage that was handed on in the turn before. */
  int user(int rank, int position) {
    return user[offsets[rank] + position];
  }

  /** The collective operation that an op belongs to; {@link #NONE} for other ops. */
  int meeting(int op) {
    return meeting.length > 0 ? meeting[op] : NONE;
  }

  /** The ops of a collective operation. */
  int[] members(int collective) {
    return members.get(collective);
  }

  int collectives() {
    return members.size();
  }

  /** The last op that runs together with the one at {@code first}. */
  static int last(long[] program, int first) {
    int last = first;
    while (last < program.length - 1 && Schedule.isJoined(program[last])) {
      last++;
    }
    return last;
  }

  Place place(int op) {
    int rank = rank(op);
    return Place.of(schedule, rank, op - offsets[rank]);
  }
}
