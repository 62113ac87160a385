package dev.pipewright.formats.schedule;

import dev.pipewright.formats.json.NumberWriter;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.sim.Run;
import java.io.Writer;
import java.util.Arrays;

/** The ops of a run as {@link ScheduleJson} says, written as they come: there may be many. */
final class ScheduleRanksJson {
  private static final String[] OPENINGS =
      Arrays.stream(Pass.values())
          .map(pass -> "[\"" + ScheduleJson.word(pass) + "\", ")
          .toArray(String[]::new); // by code

  private final Run run;
  private final Schedule schedule;
  private final int depth;
  private final boolean communication; // which chain an op is of
  private final NumberWriter out;

  private ScheduleRanksJson(Run run, Writer out) {
    this.run = run;
    this.schedule = run.schedule();
    this.depth = schedule.placement().depth();
    this.communication = schedule.placement().chains() > 1;
    this.out = new NumberWriter(out);
  }

  /** Writes an array with one of each rank, a line each, at the indentation of a member. */
  static void write(Run run, Writer out) {
    new ScheduleRanksJson(run, out).write();
  }

  private void write() {
    out.add("[");
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      out.add(rank == 0 ? "\n    [" : ",\n    [");
      ops(rank, schedule.packed(rank));
      out.add("]");
    }
    out.add("\n  ]").flush();
  }

  private void ops(int rank, long[] program) {
    for (int i = 0; i < program.length; i++) {
      out.add(i == 0 ? "" : ", ");
      if (Schedule.isJoined(program[i]) && i + 1 < program.length) {
        i = together(rank, program, i);
      } else {
        op(program[i]);
        out.add(", ").add(run.start(rank, i)).add(", ").add(run.end(rank, i));
        direction(program[i]);
      }
    }
  }

  /** Writes the ops that run together from {@code first} on; returns where the last of them is. */
  private int together(int rank, long[] program, int first) {
    out.add("[\"FB\", ").add(run.start(rank, first)).add(", ");
    out.add(run.end(rank, first)).add(", [");
    int last = first;
    while (true) {
      op(program[last]);
      direction(program[last]);
      if (!Schedule.isJoined(program[last]) || last + 1 == program.length) {
        out.add("]]");
        return last;
      }
      out.add(", ");
      last++;
    }
  }

  private void op(long op) {
    out.add(OPENINGS[Schedule.code(op)]).add(Schedule.microBatch(op)).add(", ");
    out.add(Schedule.stage(op) % depth);
  }

  private void direction(long op) {
    if (communication) {
      out.add(", ").add(Schedule.stage(op) / depth);
    }
    out.add("]");
  }
}
