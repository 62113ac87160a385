package dev.pipewright.app.report;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Which rank receives what from which other rank, and where in its program. */
final class ScheduleGradientPasses {
  /**
   * A rank takes over a stage.
   *
   * @param from the rank whose turn was before
   * @param source what that rank did with the stage in its turn: a position in its program
   * @param target the hand-on's position in the program of {@code to}
   */
  record HandOn(int from, int source, int to, int target) {}

  private record Place(int rank, int position) {}

  private ScheduleGradientPasses() {}

  /** Those between two ranks, by the rank that takes over. */
  static List<HandOn> of(ScheduleRun run) {
    Map<Long, Place> turns = turns(run);
    int depth = run.schedule().placement().depth();
    List<HandOn> found = new ArrayList<>();
    for (int rank = 0; rank < run.ranks(); rank++) {
      long[] program = run.program(rank);
      for (int i = 0; i < program.length; i++) {
        if (Schedule.pass(program[i]) == Pass.HAND_ON) {
          Place before = turns.get(turn(program[i], depth) - 1);
          if (before != null && before.rank() != rank) {
            int source = use(run.program(before.rank()), before.position());
            found.add(new HandOn(before.rank(), source, rank, i));
          }
        }
      }
    }
    return found;
  }

  private static Map<Long, Place> turns(ScheduleRun run) {
    int depth = run.schedule().placement().depth();
    Map<Long, Place> turns = new HashMap<>();
    for (int rank = 0; rank < run.ranks(); rank++) {
      long[] program = run.program(rank);
      for (int i = 0; i < program.length; i++) {
        if (Schedule.pass(program[i]) == Pass.HAND_ON) {
          turns.put(turn(program[i], depth), new Place(rank, i));
        }
      }
    }
    return turns;
  }

  /** The stage in its chain, and the number of the turn. */
  private static long turn(long op, int depth) {
    return (long) (Schedule.stage(op) % depth) << 32 | Schedule.microBatch(op);
  }

  /** What is computed of the stage behind a hand-on; the hand-on itself where nothing is. */
  private static int use(long[] program, int gradientPass) {
    for (int i = gradientPass + 1; i < program.length; i++) {
      boolean computes = !Schedule.pass(program[i]).exchanges();
      if (computes && Schedule.stage(program[i]) == Schedule.stage(program[gradientPass])) {
        return i;
      }
    }
    return gradientPass;
  }
}
