package dev.pipewright.formats.schedule;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * Adds transfers to a schedule: an output is sent right after its pass, and received where the
 * other rank stands then, when all ranks do one action in turn. So no order of transfers makes two
 * ranks wait for each other.
 */
final class ScheduleTransferText {
  /** An action of a rank's line: ops that run together, or words about a stage. */
  private record Step(List<Long> ops, String text) {}

  private final Schedule schedule;
  private final Placement placement;
  private final List<List<Step>> steps = new ArrayList<>();
  private final List<StringBuilder> lines = new ArrayList<>();
  private final BitSet received = new BitSet();

  private ScheduleTransferText(Schedule schedule) {
    this.schedule = schedule;
    this.placement = schedule.placement();
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      steps.add(steps(rank));
      lines.add(new StringBuilder());
    }
  }

  static String of(Schedule schedule) {
    ScheduleTransferText text = new ScheduleTransferText(schedule);
    text.run();
    return String.join("\n", text.lines) + "\n";
  }

  private List<Step> steps(int rank) {
    long[] program = schedule.packed(rank);
    int[] last = new int[schedule.stages()]; // position of the stage's last backward
    for (int i = 0; i < program.length; i++) {
      last[Schedule.stage(program[i])] = i;
    }
    List<Step> steps = new ArrayList<>();
    for (int stage = 0; stage < last.length; stage++) {
      if (placement.rankOf(stage) == rank) {
        steps.add(new Step(List.of(), stage + "UNSHARD"));
      }
    }
    for (int i = 0; i < program.length; i++) {
      int from = i;
      List<Long> together = new ArrayList<>(List.of(program[i]));
      if (Schedule.isJoined(program[i])) {
        together.add(program[++i]);
      }
      steps.add(new Step(together, words(together)));
      for (int at = from; at <= i; at++) {
        int stage = Schedule.stage(program[at]);
        if (last[stage] == at) {
          steps.add(new Step(List.of(), stage + "REDUCE_GRAD"));
          steps.add(new Step(List.of(), stage + "RESHARD"));
        }
      }
    }
    return steps;
  }

  private static String words(List<Long> together) {
    String first = ScheduleAction.word(together.get(0));
    return together.size() == 1
        ? first
        : "(" + first + ";" + ScheduleAction.word(together.get(1)) + ")OVERLAP_F_B";
  }

  private void run() {
    int[] next = new int[schedule.ranks()];
    boolean moved = true;
    while (moved) {
      moved = false;
      for (int rank = 0; rank < next.length; rank++) {
        if (next[rank] < steps.get(rank).size() && ready(steps.get(rank).get(next[rank]), rank)) {
          Step step = steps.get(rank).get(next[rank]++);
          append(rank, step.text());
          for (long op : step.ops()) {
            send(rank, op);
          }
          moved = true;
        }
      }
    }
    for (int rank = 0; rank < next.length; rank++) {
      Check.that(
          next[rank] == steps.get(rank).size(),
          "a rank waits for ever: schedule=%s, rank=%d",
          schedule.name(),
          rank);
    }
  }

  private void append(int rank, String text) {
    StringBuilder line = lines.get(rank);
    line.append(line.isEmpty() ? "" : ",").append(text);
  }

  private boolean ready(Step step, int rank) {
    for (long op : step.ops()) {
      int stage = Schedule.stage(op);
      Pass pass = Schedule.pass(op);
      boolean end = pass == Pass.FORWARD ? placement.first(stage) : placement.last(stage);
      int before = pass == Pass.FORWARD ? stage - 1 : stage + 1;
      boolean waits = (pass == Pass.FORWARD || pass.propagates()) && !end;
      if (waits
          && placement.rankOf(before) != rank
          && !received.get(key(pass == Pass.FORWARD, stage, Schedule.microBatch(op)))) {
        return false;
      }
    }
    return true;
  }

  private void send(int rank, long op) {
    int stage = Schedule.stage(op);
    int microBatch = Schedule.microBatch(op);
    boolean forward = Schedule.pass(op) == Pass.FORWARD;
    boolean end = forward ? placement.last(stage) : placement.first(stage);
    int to = forward ? stage + 1 : stage - 1;
    if (end || !(forward || Schedule.pass(op).propagates()) || placement.rankOf(to) == rank) {
      return;
    }
    String what = (forward ? "_F" : "_B") + microBatch;
    append(rank, stage + "SEND" + what);
    append(placement.rankOf(to), to + "RECV" + what);
    received.set(key(forward, to, microBatch));
  }

  private int key(boolean forward, int stage, int microBatch) {
    return 2 * (stage * schedule.microBatches() + microBatch) + (forward ? 0 : 1);
  }
}
