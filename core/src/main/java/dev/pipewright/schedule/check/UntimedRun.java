package dev.pipewright.schedule.check;

import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator.Problem.Deadlock;
import dev.pipewright.schedule.check.Validator.Problem.Deadlock.Wait;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * Runs a schedule, without times, as far as it gets. A rank has two streams: stream 2r computes,
 * stream 2r + 1 exchanges, each in the order of the program. O(ops): a stream that waits is put
 * aside until the op that it waits for is done.
 */
final class UntimedRun {
  private final Schedule schedule;
  private final Needs needs;
  private final int[] next; // by stream: the position of its next op
  private final int[] awaited; // by stream: what that waits for
  private final int[] also; // by stream: another that waits for the same op
  private final int[] waiting; // by op: a stream that waits for it
  private final BitSet done = new BitSet(); // ops
  private final int[] arrived; // by meeting: members that wait for the others
  private final int[] moving; // streams that may move, a stack
  private int count;
  private final int[] needed = new int[Needs.MOST];

  UntimedRun(Schedule schedule, Needs needs) {
    this.schedule = schedule;
    this.needs = needs;
    int streams = 2 * schedule.ranks();
    next = new int[streams];
    awaited = new int[streams];
    also = new int[streams];
    waiting = new int[needs.size()];
    arrived = new int[needs.collectives()];
    moving = new int[streams];
    Arrays.fill(awaited, Needs.NONE);
    Arrays.fill(waiting, Needs.NONE);
  }

  /** What keeps the schedule from its end. */
  Optional<Deadlock> deadlock() {
    for (int stream = next.length - 1; stream >= 0; stream--) {
      next[stream] = following(stream, 0);
      moving[count++] = stream;
    }
    while (count > 0) {
      advance(moving[--count]);
    }
    for (int stream = 0; stream < next.length; stream++) {
      if (next[stream] < schedule.packed(stream / 2).length) {
        return Optional.of(cycle(stream));
      }
    }
    return Optional.empty();
  }

  /** The first op of a stream from a position on. */
  private int following(int stream, int position) {
    long[] program = schedule.packed(stream / 2);
    boolean exchanges = stream % 2 == 1;
    int at = position;
    while (at < program.length && Schedule.pass(program[at]).exchanges() != exchanges) {
      at++;
    }
    return at;
  }

  private void advance(int stream) {
    int rank = stream / 2;
    long[] program = schedule.packed(rank);
    while (next[stream] < program.length) {
      int first = next[stream];
      int last = Needs.last(program, first);
      int need = unmet(rank, first, last);
      if (need != Needs.NONE) {
        awaited[stream] = need;
        also[stream] = waiting[need];
        waiting[need] = stream;
        return;
      }
      int meeting = needs.meeting(needs.op(rank, first));
      if (meeting == Needs.NONE) {
        finish(stream, last);
      } else if (++arrived[meeting] == needs.members(meeting).length) {
        for (int member : needs.members(meeting)) {
          int other = 2 * needs.rank(member) + 1;
          finish(other, next[other]);
          if (other != stream) {
            moving[count++] = other;
          }
        }
      } else {
        return;
      }
    }
  }

  /** What the ops from {@code first} to {@code last} need and is not done yet. */
  private int unmet(int rank, int first, int last) {
    for (int position = first; position <= last; position++) {
      int size = needs.of(rank, position, needed);
      for (int i = 0; i < size; i++) {
        if (!done.get(needed[i])) {
          return needed[i];
        }
      }
    }
    return Needs.NONE;
  }

  /** Ends a stream's next ops, up to {@code last}, and wakes who waits for them. */
  private void finish(int stream, int last) {
    for (int position = next[stream]; position <= last; position++) {
      int op = needs.op(stream / 2, position);
      done.set(op);
      for (int woken = waiting[op]; woken != Needs.NONE; woken = also[woken]) {
        awaited[woken] = Needs.NONE;
        moving[count++] = woken;
      }
    }
    next[stream] = following(stream, last + 1);
  }

  /** Follows from a stream that waits what each waits for, until one comes again. */
  private Deadlock cycle(int from) {
    List<Integer> streams = new ArrayList<>();
    int stream = from;
    while (!streams.contains(stream)) {
      streams.add(stream);
      stream = stream(lack(stream));
    }
    List<Integer> ring = streams.subList(streams.indexOf(stream), streams.size());
    Collections.rotate(ring, -ring.indexOf(Collections.min(ring)));
    List<Wait> waits = new ArrayList<>();
    for (int each : ring) {
      waits.add(new Wait(needs.place(head(each)), needs.place(lack(each))));
    }
    return new Deadlock(waits);
  }

  private int head(int stream) {
    return needs.op(stream / 2, next[stream]);
  }

  private int stream(int op) {
    int rank = needs.rank(op);
    long packed = schedule.packed(rank)[op - needs.op(rank, 0)];
    return 2 * rank + (Schedule.pass(packed).exchanges() ? 1 : 0);
  }

  /** The op for want of which a stream waits; of a meeting, one that is not there yet. */
  private int lack(int stream) {
    if (awaited[stream] != Needs.NONE) {
      return awaited[stream];
    }
    for (int member : needs.members(needs.meeting(head(stream)))) {
      int other = stream(member);
      if (head(other) != member || awaited[other] != Needs.NONE) {
        return member;
      }
    }
    throw new IllegalStateException("everybody has come: " + needs.place(head(stream)));
  }
}
