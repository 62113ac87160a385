package dev.pipewright.exchange;

import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.OptionalInt;
import java.util.TreeMap;

/**
 * Point-to-point passes of gradient sums between the workers of a stage in cyclic data parallelism.
 * All workers derive the same passes from the schedule.
 *
 * <p>A partial sum passes from the first worker that adds to it to the last; from there the
 * complete sum passes to every worker that has not had it. In a ring this is the count of
 * arXiv:2403.08837, §4.2: per step and stage N − 1 partial sums and N − 1 complete ones.
 */
public final class GradientPasses {
  private final List<Turn> turns = new ArrayList<>();
  private final List<List<Integer>> carried = new ArrayList<>(); // by turn that gets it
  private final Map<Integer, Sum> sums = new TreeMap<>(); // by update
  private final Map<Integer, Turns> ranks = new TreeMap<>();

  /**
   * A rank's turn.
   *
   * @param asked position of its hand-on in the rank's program
   * @param used position of the op behind which it is over
   */
  public record Turn(int rank, int asked, int used) {}

  /** Who adds to a sum, and who updates with it. */
  private static final class Sum {
    private int firstTurn = Integer.MAX_VALUE; // that adds to it
    private int lastTurn = -1;
    private final List<Use> updates = new ArrayList<>();
  }

  /** Of a rank, by where they are asked for and where they are over in its program. */
  private record Turns(NavigableMap<Integer, Integer> asked, NavigableMap<Integer, Integer> used) {}

  /** By a rank, while it has what a turn gave. */
  private record Use(int rank, int turn) {}

  private GradientPasses() {}

  /** Of a stage of a chain. */
  public static GradientPasses of(Assignment all, int depth) {
    GradientPasses gradientPasses = new GradientPasses();
    gradientPasses.findTurns(all, depth);
    gradientPasses.findUses(all, depth);
    for (int turn = 0; turn < gradientPasses.turns.size(); turn++) {
      gradientPasses.carried.add(new ArrayList<>());
    }
    gradientPasses.sums.forEach(gradientPasses::carry);
    return gradientPasses;
  }

  private static boolean isOf(long op, Assignment all, int depth) {
    return Schedule.stage(op) % all.schedule().placement().depth() == depth;
  }

  private void findTurns(Assignment all, int depth) {
    TreeMap<Integer, Turn> found = new TreeMap<>();
    for (int rank = 0; rank < all.schedule().ranks(); rank++) {
      long[] program = all.schedule().packed(rank);
      for (int i = 0; i < program.length; i++) {
        if (Schedule.pass(program[i]) == Pass.HAND_ON && isOf(program[i], all, depth)) {
          int used = i + 1;
          while (!isOf(program[used], all, depth) || !Schedule.pass(program[used]).endsTurn()) {
            used++;
          }
          found.put(Schedule.microBatch(program[i]), new Turn(rank, i, used));
        }
      }
    }
    turns.addAll(found.values());
    for (int turn = 0; turn < turns.size(); turn++) {
      Turn own = turns.get(turn);
      Turns ofRank =
          ranks.computeIfAbsent(own.rank(), key -> new Turns(new TreeMap<>(), new TreeMap<>()));
      ofRank.asked().put(own.asked(), turn);
      ofRank.used().put(own.used(), turn);
    }
  }

  private void findUses(Assignment all, int depth) {
    ranks.forEach((rank, turns) -> findUses(all, depth, rank, turns));
  }

  private void findUses(Assignment all, int depth, int rank, Turns own) {
    AsyncPipeline asyncPipeline = all.asyncPipeline().orElseThrow();
    long[] program = all.schedule().packed(rank);
    Map<Integer, Integer> added = new TreeMap<>(); // by update, the last position
    for (int i = 0; i < program.length; i++) {
      if (isOf(program[i], all, depth)) {
        int number = Schedule.microBatch(program[i]);
        if (Schedule.pass(program[i]) == Pass.BACKWARD) {
          int microBatch = all.inFlow(Schedule.stage(program[i]), number);
          added.put(microBatch / asyncPipeline.perUpdate(depth), i);
        } else if (Schedule.pass(program[i]) == Pass.UPDATE) {
          sum(number).updates.add(new Use(rank, own.asked().floorEntry(i).getValue()));
        }
      }
    }
    added.forEach((update, last) -> adds(sum(update), own.used().ceilingEntry(last).getValue()));
  }

  private Sum sum(int update) {
    return sums.computeIfAbsent(update, key -> new Sum());
  }

  /** What a rank adds goes on behind the turn with its last. */
  private static void adds(Sum sum, int turn) {
    sum.firstTurn = Math.min(sum.firstTurn, turn);
    sum.lastTurn = Math.max(sum.lastTurn, turn);
  }

  private void carry(int update, Sum sum) {
    for (int turn = sum.firstTurn + 1; turn < turns.size() && wanted(sum, turn); turn++) {
      carried.get(turn).add(update);
    }
  }

  /** Whether a worker from a turn on adds to a sum, or needs it and has not had all of it. */
  private boolean wanted(Sum sum, int turn) {
    return turn <= sum.lastTurn
        || sum.updates.stream()
            .anyMatch(use -> use.turn() >= turn && !had(use.rank(), sum.lastTurn, turn));
  }

  /** Whether a rank has had a turn from one on and before another. */
  private boolean had(int rank, int from, int before) {
    return turns.subList(from, before).stream().anyMatch(turn -> turn.rank() == rank);
  }

  /** All turns of the stage. */
  public int size() {
    return turns.size();
  }

  public Turn turn(int number) {
    return turns.get(number);
  }

  /** The updates whose sums a turn gets from the one before; none for the first. */
  public List<Integer> carried(int turn) {
    return carried.get(turn);
  }

  /** Whether a turn gets anything from another rank. */
  public boolean comes(int turn) {
    return turn > 0 && turns.get(turn - 1).rank() != turns.get(turn).rank();
  }

  /** The turn that is over behind a position of a rank's program. */
  public OptionalInt over(int rank, int position) {
    Turns own = ranks.get(rank);
    Integer turn = own == null ? null : own.used().get(position);
    return turn == null ? OptionalInt.empty() : OptionalInt.of(turn);
  }
}
