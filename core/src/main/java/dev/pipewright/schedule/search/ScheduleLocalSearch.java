package dev.pipewright.schedule.search;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Moves single ops of programs by a few places, at random from one seed, and goes on from what is
 * no longer: it finds what rules and patterns miss, such as delays that several ranks have to avoid
 * together. Where nothing can be shorter it ends at once.
 *
 * <p>O(ops) for each move.
 */
final class ScheduleLocalSearch {
  private static final int REACH = 4; // places
  private static final double NEVER = Double.POSITIVE_INFINITY; // is a gap filled

  private final OpLanes lanes;
  private final WeightFiller filler;
  private final SplittableRandom random = new SplittableRandom(1);

  ScheduleLocalSearch(OpLanes lanes, WeightFiller filler) {
    this.lanes = lanes;
    this.filler = filler;
  }

  /**
   * Shorter programs, or the given ones if no move shortens them.
   *
   * @param given programs by rank; they run
   */
  byte[][] improve(byte[][] given, long moves) {
    filler.run(given, NEVER, NEVER);
    byte[][] best = given;
    double shortest = filler.length();
    double least = shortest;
    byte[][] programs = Arrays.stream(given).map(byte[]::clone).toArray(byte[][]::new);
    boolean met = lanes.isLeast(filler.span(), filler.makespan());
    for (long left = moves; left > 0 && !met; left--) {
      byte[] program = programs[random.nextInt(programs.length)];
      int from = random.nextInt(program.length);
      int by = random.nextInt(-REACH, REACH + 1);
      int to = Math.clamp((long) from + by, 0, program.length - 1);
      if (program[from] == program[to]) {
        continue;
      }
      move(program, from, to);
      if (!filler.run(programs, NEVER, NEVER) || filler.length() > least) {
        move(program, to, from);
        continue;
      }
      least = filler.length();
      if (least < shortest * (1 - 1e-12)) {
        shortest = least;
        best = filler.programs();
        met = lanes.isLeast(filler.span(), filler.makespan());
      }
    }
    return best;
  }

  private static void move(byte[] program, int from, int to) {
    byte moved = program[from];
    if (from < to) {
      System.arraycopy(program, from + 1, program, from, to - from);
    } else {
      System.arraycopy(program, to, program, to + 1, from - to);
    }
    program[to] = moved;
  }
}
