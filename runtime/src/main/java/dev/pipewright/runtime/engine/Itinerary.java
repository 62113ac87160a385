package dev.pipewright.runtime.engine;

import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Flow;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The way of a stage's states from user to user, as all workers find it in the schedule: who has
 * them when, for what, and what they are then. At any time they are in one place (arXiv:2403.08837,
 * §4.4).
 */
final class Itinerary {
  private final List<Stop> stops;
  private final int[] newest; // version, by stop
  private final boolean[] older; // by stop
  private final boolean[] sum; // likewise
  private final Map<Integer, Map<Integer, Integer>> at = new HashMap<>(); // by rank and position

  /**
   * An op that needs them.
   *
   * @param version of the parameters that it needs
   * @param position in the rank's program
   */
  record Stop(int rank, Pass pass, int version, int position) {}

  private Itinerary(List<Stop> stops) {
    this.stops = stops;
    this.older = new boolean[stops.size() + 1];
    this.sum = new boolean[stops.size() + 1];
    this.newest = new int[stops.size() + 1];
    for (int i = 0; i < stops.size(); i++) {
      Stop stop = stops.get(i);
      boolean updates = stop.pass() == Pass.UPDATE;
      newest[i + 1] = newest[i] + (updates ? 1 : 0);
      sum[i + 1] = stop.pass() == Pass.BACKWARD || (sum[i] && !updates);
      at.computeIfAbsent(stop.rank(), key -> new HashMap<>()).put(stop.position(), i);
    }
    int oldest = Integer.MAX_VALUE; // from a stop on
    for (int i = stops.size() - 1; i >= 0; i--) {
      oldest = Math.min(oldest, stops.get(i).version());
      older[i] = oldest < newest[i];
    }
  }

  /** Of a stage of a chain. */
  static Itinerary of(Assignment all, int depth) {
    Map<Integer, Stop> stops = new TreeMap<>(); // by turn
    for (int rank = 0; rank < all.schedule().ranks(); rank++) {
      long[] program = all.schedule().packed(rank);
      List<Integer> turns = new ArrayList<>(); // whose ops come, of one rank all in order
      for (int i = 0; i < program.length; i++) {
        if (Schedule.stage(program[i]) % all.stages().size() == depth) {
          if (Schedule.pass(program[i]) == Pass.HAND_ON) {
            turns.add(Schedule.microBatch(program[i]));
          } else {
            int turn = all.schedule().ranks() == 1 ? stops.size() : turns.removeFirst();
            stops.put(turn, stop(all, depth, rank, i));
          }
        }
      }
    }
    return new Itinerary(List.copyOf(stops.values()));
  }

  private static Stop stop(Assignment all, int depth, int rank, int position) {
    Flow flow = all.flow().orElseThrow();
    long op = all.schedule().packed(rank)[position];
    int number = Schedule.microBatch(op);
    Pass pass = Schedule.pass(op);
    int version =
        pass == Pass.UPDATE ? number : flow.version(depth, all.inFlow(Schedule.stage(op), number));
    return new Stop(rank, pass, version, position);
  }

  int size() {
    return stops.size();
  }

  Stop stop(int number) {
    return stops.get(number);
  }

  /** The stop of a position of a rank's program. */
  int at(int rank, int position) {
    return at.getOrDefault(rank, Map.of()).getOrDefault(position, -1);
  }

  /** Whether a stop itself needs the version before the newest. */
  boolean usesOlder(int stop) {
    return stops.get(stop).version() < newest[stop];
  }

  /** Whether the version before the newest is needed at a stop or behind it. */
  boolean older(int stop) {
    return older[stop];
  }

  /** Whether some gradients have been added up before a stop for the update behind it. */
  boolean sum(int stop) {
    return sum[stop];
  }
}
