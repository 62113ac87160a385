package dev.pipewright.schedule.cyclic;

import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Program;
import java.util.ArrayList;
import java.util.List;

/**
 * A rank's program in which what a pass takes over from another rank is asked for one pass ahead,
 * so that it comes while the rank computes; where the pass before is of the same stage, behind it.
 */
final class AheadProgram {
  private final Program program = new Program();
  private final List<Op> last = new ArrayList<>(); // a pass and its updates, not in the program yet

  /** Adds a hand-on for what runs next. */
  void take(int stage, int turn) {
    if (!last.isEmpty() && last.getFirst().stage() == stage) {
      flush();
    }
    program.add(Pass.HAND_ON, stage, turn);
  }

  /** Adds a pass or an update. */
  void run(Pass pass, int stage, int number) {
    boolean whole = !last.isEmpty() && last.getLast().pass() != Pass.UPDATE;
    boolean other = !last.isEmpty() && last.getFirst().stage() != stage;
    if (other || (whole && pass != Pass.UPDATE)) {
      flush();
    }
    last.add(new Op(pass, stage, number));
  }

  private void flush() {
    last.forEach(op -> program.add(op.pass(), op.stage(), op.microBatch()));
    last.clear();
  }

  long[] packed() {
    flush();
    return program.packed();
  }
}
