package dev.pipewright.sim;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OpTimes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The communication streams of the ranks: each runs its exchanges in order, overlapped with
 * computation, each from when all that comes before it in the program has ended. A collective
 * begins when it is the turn of every rank that holds its stage; a hand-on when the rank whose turn
 * was before is done.
 *
 * <p>Both simulators use it: it says when exchanges may begin, the {@link Host} how long they take.
 */
final class Exchanges {
  /** A simulator. */
  interface Host {
    /** An exchange begins; it ends with {@link Exchanges#end}, now or later. */
    void begin(Exchange exchange);
  }

  /** One exchange: the ranks that take part, and where it stands in their programs. */
  static final class Exchange {
    private final List<Integer> ranks = new ArrayList<>();
    private final List<Integer> positions = new ArrayList<>();
    private long op; // of one of the ranks
    private int from = -1;
    private double start = Double.NEGATIVE_INFINITY;

    private void join(int rank, int position, long packed, double ready) {
      ranks.add(rank);
      positions.add(position);
      op = packed;
      start = Math.max(start, ready);
    }

    List<Integer> ranks() {
      return ranks;
    }

    int position(int member) {
      return positions.get(member);
    }

    /** The op of one of its ranks. */
    long op() {
      return op;
    }

    /** The rank that a hand-on takes over from; −1 for collectives and for the first turn. */
    int from() {
      return from;
    }

    double start() {
      return start;
    }

    /** As long as its slowest rank takes; a hand-on within a rank, or the first, no time. */
    double seconds(Schedule schedule, OpTimes times) {
      if (Schedule.pass(op) == Pass.HAND_ON && (from < 0 || from == ranks.get(0))) {
        return 0;
      }
      double longest = 0;
      for (int member = 0; member < ranks.size(); member++) {
        long each = schedule.packed(ranks.get(member))[positions.get(member)];
        longest = Math.max(longest, times.seconds(each));
      }
      return longest;
    }
  }

  /** What a rank has of a stage when its turn is over. */
  private static final class Turn {
    private int holder = -1;
    private double released = Double.NaN;
    private int waiting = -1;
  }

  private final Schedule schedule;
  private final Host host;
  private final int depth;
  private final int[] members; // ranks that hold a stage, by stage of a chain
  private final List<ArrayDeque<Integer>> queues = new ArrayList<>(); // by rank: positions
  private final List<ArrayDeque<Double>> issues = new ArrayList<>(); // and when each was reached
  private final double[] free; // by rank
  private final boolean[] engaged; // by rank: whether its first exchange has begun, or waits
  private final int[] pending; // by stage of all chains
  private final double[] done;
  private final List<ArrayDeque<Turn>> inUse = new ArrayList<>(); // by stage of all chains
  private final Map<Long, Exchange> meetings = new HashMap<>();
  private final Map<Long, Turn> turns = new HashMap<>();

  Exchanges(Schedule schedule, Host host) {
    this.schedule = schedule;
    this.host = host;
    Placement placement = schedule.placement();
    depth = placement.depth();
    members = members(placement);
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      queues.add(new ArrayDeque<>());
      issues.add(new ArrayDeque<>());
    }
    free = new double[schedule.ranks()];
    engaged = new boolean[schedule.ranks()];
    pending = new int[schedule.stages()];
    done = new double[schedule.stages()];
    for (int stage = 0; stage < schedule.stages(); stage++) {
      inUse.add(new ArrayDeque<>(1));
    }
  }

  private static int[] members(Placement placement) {
    int[] members = new int[placement.depth()];
    boolean[] seen = new boolean[placement.ranks()];
    for (int stage = 0; stage < members.length; stage++) {
      Arrays.fill(seen, false);
      for (int chain = 0; chain < placement.chains(); chain++) {
        int rank = placement.rankOf(chain * placement.depth() + stage);
        members[stage] += seen[rank] ? 0 : 1;
        seen[rank] = true;
      }
    }
    return members;
  }

  /** A rank has come to an exchange; all before it in its program ends at {@code now}. */
  void issue(int rank, int position, double now) {
    pending[Schedule.stage(schedule.packed(rank)[position])]++;
    queues.get(rank).add(position);
    issues.get(rank).add(now);
    pump(rank);
  }

  /** When the exchanges of a stage that its rank has come to are over; NaN as long as they run. */
  double ready(int stage) {
    return pending[stage] > 0 ? Double.NaN : done[stage];
  }

  /** A rank has used a stage: what it took over for that, the next may have. */
  void used(int rank, int stage, double end) {
    for (Turn turn = inUse.get(stage).poll(); turn != null; turn = inUse.get(stage).poll()) {
      turn.holder = rank;
      turn.released = end;
      if (turn.waiting >= 0) {
        engaged[turn.waiting] = false;
        pump(turn.waiting);
      }
    }
  }

  /** Begins the first exchange of a rank's stream where it can. */
  private void pump(int rank) {
    if (engaged[rank] || queues.get(rank).isEmpty()) {
      return;
    }
    engaged[rank] = true;
    int position = queues.get(rank).element();
    double ready = Math.max(issues.get(rank).element(), free[rank]);
    long op = schedule.packed(rank)[position];
    int stage = Schedule.stage(op) % depth;
    if (Schedule.pass(op) == Pass.HAND_ON) {
      takeOver(rank, position, op, ready);
      return;
    }
    long key = key(op, Schedule.microBatch(op));
    Exchange meeting = meetings.computeIfAbsent(key, k -> new Exchange());
    meeting.join(rank, position, op, ready);
    if (meeting.ranks().size() == members[stage]) {
      meetings.remove(key);
      host.begin(meeting);
    }
  }

  private void takeOver(int rank, int position, long op, double ready) {
    int number = Schedule.microBatch(op);
    Exchange exchange = new Exchange();
    exchange.join(rank, position, op, ready);
    if (number > 0) {
      Turn before = turns.computeIfAbsent(key(op, number - 1), k -> new Turn());
      if (Double.isNaN(before.released)) {
        before.waiting = rank;
        return;
      }
      exchange.from = before.holder;
      exchange.start = Math.max(ready, before.released);
    }
    host.begin(exchange);
  }

  private long key(long op, int number) {
    return Schedule.pack(Schedule.pass(op), Schedule.stage(op) % depth, number);
  }

  /** Ends an exchange that has begun. */
  void end(Exchange exchange, double end) {
    for (int member = 0; member < exchange.ranks().size(); member++) {
      int rank = exchange.ranks().get(member);
      long op = schedule.packed(rank)[exchange.position(member)];
      int stage = Schedule.stage(op);
      queues.get(rank).remove();
      issues.get(rank).remove();
      free[rank] = end;
      engaged[rank] = false;
      pending[stage]--;
      done[stage] = Math.max(done[stage], end);
      if (Schedule.pass(op) == Pass.HAND_ON) {
        inUse
            .get(stage)
            .add(turns.computeIfAbsent(key(op, Schedule.microBatch(op)), k -> new Turn()));
      }
    }
    for (int rank : exchange.ranks()) {
      pump(rank);
    }
  }
}
