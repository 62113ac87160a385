package dev.pipewright.exchange;

import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Which worker owns the states of a stage when, for what, and what is sent along: all workers
 * derive the same from the schedule. At any time the states have one owner (arXiv:2403.08837,
 * §4.4); before the first stop and after the last they are at their home worker.
 *
 * <p>The newest parameters and their optimizer state are always sent.
 */
public final class OwnershipSchedule {
  private final Assignment all;
  private final int home; // worker
  private final List<Stop> stops;
  private final int[] newest; // version, by stop
  private final boolean[] older; // by stop
  private final boolean[] sum; // likewise
  private final Map<Integer, Map<Integer, Integer>> at = new HashMap<>(); // by rank and position

  /**
   * An op that needs them.
   *
   * @param version of the parameters that it needs
   * @param asked position of its hand-on in the rank's program; −1 where there is only one rank
   * @param position of the op there
   */
  public record Stop(int rank, Pass pass, int version, int asked, int position) {}

  private OwnershipSchedule(Assignment all, int home, List<Stop> stops) {
    this.all = all;
    this.home = home;
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
  public static OwnershipSchedule of(Assignment all, int depth) {
    Map<Integer, Stop> stops = new TreeMap<>(); // by turn
    for (int rank = 0; rank < all.schedule().ranks(); rank++) {
      long[] program = all.schedule().packed(rank);
      List<Integer> asked = new ArrayList<>(); // positions whose ops come, all in order
      for (int i = 0; i < program.length; i++) {
        if (Schedule.stage(program[i]) % all.stages().size() == depth) {
          if (Schedule.pass(program[i]) == Pass.HAND_ON) {
            asked.add(i);
          } else {
            int from = all.schedule().ranks() == 1 ? -1 : asked.removeFirst();
            int turn = from < 0 ? stops.size() : Schedule.microBatch(program[from]);
            stops.put(turn, stop(all, depth, rank, from, i));
          }
        }
      }
    }
    return new OwnershipSchedule(all, all.keeper(depth), List.copyOf(stops.values()));
  }

  private static Stop stop(Assignment all, int depth, int rank, int asked, int position) {
    AsyncPipeline asyncPipeline = all.asyncPipeline().orElseThrow();
    long op = all.schedule().packed(rank)[position];
    int number = Schedule.microBatch(op);
    Pass pass = Schedule.pass(op);
    int version =
        pass == Pass.UPDATE
            ? number
            : asyncPipeline.version(depth, all.inFlow(Schedule.stage(op), number));
    return new Stop(rank, pass, version, asked, position);
  }

  public int size() {
    return stops.size();
  }

  public Stop stop(int number) {
    return stops.get(number);
  }

  /** The stop of a position of a rank's program. */
  public int at(int rank, int position) {
    return at.getOrDefault(rank, Map.of()).getOrDefault(position, -1);
  }

  /** Who has them at a stop; before the first and behind the last that is who is their home. */
  public int worker(int stop) {
    boolean away = 0 <= stop && stop < stops.size();
    return away ? all.firstWorker(stops.get(stop).rank()) : home;
  }

  /** Whether they come to a stop from another worker. */
  public boolean comes(int stop) {
    return worker(stop - 1) != worker(stop);
  }

  /** Whether a stop itself needs the version before the newest. */
  public boolean usesOlder(int stop) {
    return stops.get(stop).version() < newest[stop];
  }

  /** Whether the version before the newest is needed at a stop or behind it, and so goes along. */
  public boolean older(int stop) {
    return older[stop];
  }

  /** Whether gradients have been added up before a stop for the update behind it: they go along. */
  public boolean sum(int stop) {
    return sum[stop];
  }

  /** How many tensors as large as the parameters go along to a stop beside what always does. */
  public int extra(int stop) {
    return (older[stop] ? 1 : 0) + (sum[stop] ? 1 : 0);
  }
}
