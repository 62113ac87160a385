package dev.pipewright.schedule.check;

import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Says whether a schedule can run: each stage's forward and backward of each micro-batch exactly
 * once (the backward whole, or as its two halves) on the rank that owns the stage, every exchange
 * complete, and an order in which no rank waits for ever. O(ops).
 */
public final class Validator {
  /**
   * An op where it stands.
   *
   * @param position in the rank's program; −1 of one that is missing there
   * @param op with its stage counted in its chain
   * @param chain −1 where there is but one
   */
  public record Place(int rank, int position, Op op, int chain) {
    static Place of(Schedule schedule, int rank, int position) {
      long op = schedule.packed(rank)[position];
      return of(
          schedule,
          rank,
          position,
          new Op(Schedule.pass(op), Schedule.stage(op), Schedule.microBatch(op)));
    }

    /** Of an op that is missing. */
    static Place of(Schedule schedule, Op op) {
      return of(schedule, schedule.placement().rankOf(op.stage()), -1, op);
    }

    static Place of(Schedule schedule, int rank, int position, Op op) {
      Placement placement = schedule.placement();
      boolean counted = placement.chains() > 1 && op.stage() < placement.stages();
      return counted
          ? new Place(
              rank,
              position,
              new Op(op.pass(), op.stage() % placement.depth(), op.microBatch()),
              op.stage() / placement.depth())
          : new Place(rank, position, op, -1);
    }

    @Override
    public String toString() {
      return op + " of stage " + op.stage() + (chain < 0 ? "" : " in chain " + chain);
    }
  }

  /** What is wrong, and with which op. */
  public sealed interface Problem {
    Place at();

    /** Work that no rank does. */
    record Missing(Place at) implements Problem {
      @Override
      public String toString() {
        return "no rank runs " + at;
      }
    }

    /** Work that is done twice. */
    record Duplicate(Place at) implements Problem {
      @Override
      public String toString() {
        return "rank %d runs %s again".formatted(at.rank(), at);
      }
    }

    /** Work that belongs to another rank, stage or micro-batch range. */
    record Foreign(Place at) implements Problem {
      @Override
      public String toString() {
        return "rank %d runs %s, which is not its own".formatted(at.rank(), at);
      }
    }

    /** A collective operation that one of the ranks with its stage leaves out. */
    record Absent(Place at, int other) implements Problem {
      @Override
      public String toString() {
        return "rank %d takes no part in %s, where rank %d waits for it"
            .formatted(at.rank(), at, other);
      }
    }

    /** An op that runs together with one that it needs, or an exchange together with anything. */
    record Together(Place at, Place with) implements Problem {
      @Override
      public String toString() {
        boolean exchange = at.op().pass().exchanges() || with.op().pass().exchanges();
        return "rank %d runs %s together with %s, %s"
            .formatted(
                at.rank(),
                at,
                with,
                exchange ? "but only what computes runs together" : "which it needs first");
      }
    }

    /** An op that comes before one that it needs, on the same rank. */
    record Order(Place at, Place needed) implements Problem {
      @Override
      public String toString() {
        return "rank %d runs %s before %s, which it needs".formatted(at.rank(), at, needed);
      }
    }

    /** A recomputation behind the pass that needs it. */
    record Late(Place at, Place user) implements Problem {
      @Override
      public String toString() {
        return "rank %d runs %s behind %s, which it is for".formatted(at.rank(), at, user);
      }
    }

    /** A stage that is handed on but not used before its next turn: that never comes. */
    record Unused(Place at, Place next) implements Problem {
      @Override
      public String toString() {
        return "rank %d computes nothing of the stage behind %s, so that %s on rank %d waits for ever"
            .formatted(at.rank(), at, next, next.rank());
      }
    }

    /**
     * Ranks that wait for each other in a ring: each for an op that the next one runs only after
     * the op before which it waits itself.
     */
    record Deadlock(List<Wait> cycle) implements Problem {
      /**
       * One rank's part of the ring.
       *
       * @param at the op before which its rank waits
       * @param needed what it waits for
       */
      public record Wait(Place at, Place needed) {}

      public Deadlock {
        cycle = List.copyOf(cycle);
      }

      @Override
      public Place at() {
        return cycle.get(0).at();
      }

      @Override
      public String toString() {
        StringBuilder text = new StringBuilder();
        text.append("rank %d waits for ever before %s: ".formatted(at().rank(), at()));
        for (int i = 0; i < cycle.size(); i++) {
          Place needed = cycle.get(i).needed();
          Place head = cycle.get((i + 1) % cycle.size()).at();
          text.append(i == 0 ? "it needs " : "; that needs ").append(needed);
          text.append(
              head.equals(needed)
                  ? " on rank " + needed.rank()
                  : ", which rank %d runs after %s".formatted(needed.rank(), head));
        }
        return text.toString();
      }
    }

    /** A recorded op that begins before what it needs has ended. */
    record Early(Place at, double start, Place needed, double end) implements Problem {
      @Override
      public String toString() {
        return "rank %d starts %s at %s s, but %s on rank %d, which it needs, ends at %s s"
            .formatted(at.rank(), at, start, needed, needed.rank(), end);
      }
    }

    /** A recorded op that begins while its rank still runs the one before. */
    record Overlap(Place at, double start, Place before, double end) implements Problem {
      @Override
      public String toString() {
        return "rank %d starts %s at %s s, but runs %s until %s s"
            .formatted(at.rank(), at, start, before, end);
      }
    }

    /**
     * A forward pass whose activations are more than a rank may hold.
     *
     * @param held micro-batch activations of one stage, with it
     * @param most that the rank ever holds
     */
    record OverCap(Place at, double seconds, double held, double cap, double most)
        implements Problem {
      @Override
      public String toString() {
        return ("rank %d holds %s activations at %s s, the cap is %s, from %s on;"
                + " raise the cap to %s, the most it ever holds, or run a backward pass first")
            .formatted(at.rank(), plain(held), seconds, plain(cap), at, plain(most));
      }

      private static String plain(double number) {
        return number == Math.rint(number) && Math.abs(number) < 1e15
            ? Long.toString((long) number)
            : Double.toString(number);
      }
    }
  }

  private Validator() {}

  /** All problems; empty for a schedule that can run. */
  public static List<Problem> check(Schedule schedule) {
    return check(schedule, Integer.MAX_VALUE);
  }

  /** The first problems, at most so many of missing or superfluous work. */
  public static List<Problem> check(Schedule schedule, int most) {
    List<Problem> problems = Coverage.problems(schedule, most);
    if (!problems.isEmpty()) {
      return problems;
    }
    Needs needs = new Needs(schedule);
    problems = Sequence.problems(schedule, needs, most);
    if (problems.isEmpty()) {
      new UntimedRun(schedule, needs).deadlock().ifPresent(problems::add);
    }
    return problems;
  }

  /**
   * Whether a schedule that can run has run at the given times: nothing before its inputs were
   * there, no rank two things at once. By rank and position in its program.
   */
  public static List<Problem> times(
      Schedule schedule, double[][] starts, double[][] ends, int most) {
    return new Recorded(schedule, starts, ends).problems(most);
  }

  /**
   * Where each rank holds more activations than it may for the first time, in order of time.
   *
   * @param starts of every op, by rank and position in its program
   * @param chunks of which one stage of the network consists
   * @param caps by rank, in micro-batch activations of one such stage
   */
  public static List<Problem> overCap(
      Schedule schedule, double[][] starts, int chunks, double[] caps) {
    List<Problem.OverCap> problems = new ArrayList<>();
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      long[] program = schedule.packed(rank);
      int held = 0;
      int most = 0;
      int first = -1;
      int atFirst = 0;
      for (int i = 0; i < program.length; i++) {
        Op.Pass pass = Schedule.pass(program[i]);
        held += pass == Op.Pass.FORWARD ? 1 : 0;
        most = Math.max(most, held);
        if (first < 0 && held > caps[rank] * chunks + 1e-9) {
          first = i;
          atFirst = held;
        }
        held -= pass.releases() ? 1 : 0;
      }
      if (first >= 0) {
        problems.add(
            new Problem.OverCap(
                Place.of(schedule, rank, first),
                starts[rank][first],
                (double) atFirst / chunks,
                caps[rank],
                (double) most / chunks));
      }
    }
    problems.sort(Comparator.comparingDouble(Problem.OverCap::seconds));
    return List.copyOf(problems);
  }
}
