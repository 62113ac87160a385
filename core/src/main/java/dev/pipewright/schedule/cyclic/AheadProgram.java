package dev.pipewright.schedule.cyclic;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Program;
import dev.pipewright.schedule.Schedule;

/**
 * A rank's program in which what a pass takes over from another rank is asked for one pass ahead,
 * so that it comes while the rank computes; where the pass before is of the same stage, behind it.
 */
final class AheadProgram {
  private final Program program;
  private int last; // where the last pass and its updates begin
  private int stage; // theirs
  private boolean passed; // they end with the pass, no update

  /** A program with room for so many ops, and more if needed. */
  AheadProgram(int room) {
    program = new Program(room);
  }

  /** Adds a hand-on for what runs next. */
  void take(int stage, int turn) {
    if (stage == this.stage) {
      last = program.size();
    }
    program.insert(last++, Schedule.pack(Pass.HAND_ON, stage, turn));
  }

  /** Adds a pass or an update. */
  void run(Pass pass, int stage, int number) {
    if (stage != this.stage || (passed && pass != Pass.UPDATE)) {
      last = program.size();
    }
    program.add(pass, stage, number);
    this.stage = stage;
    passed = pass != Pass.UPDATE;
  }

  long[] packed() {
    return program.packed();
  }
}
