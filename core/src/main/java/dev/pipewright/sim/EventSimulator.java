package dev.pipewright.sim;

import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.timed.OpTimes;
import dev.pipewright.units.Check;
import java.util.Arrays;

/**
 * When every op of a schedule ends where messages between ranks share links: an event-driven
 * simulation. Ranks run their programs in order; an op's output leaves when the op ends, and all
 * messages under way share the links {@linkplain FairShare max–min fairly}, from the moment they
 * leave; the first byte arrives a latency later.
 *
 * <p>Where nothing is shared it agrees with {@link StaticSimulator}. O(log) for each event, and the
 * part of the network that a message touches.
 */
public final class EventSimulator {
  private final Schedule schedule;
  private final OpTimes times;
  private final double[] bytes; // that one micro-batch sends out of each stage, both ways
  private final Wires wires;
  private final Placement placement;
  private final double[][] starts;
  private final double[][] ends;

  private final double[] forwardThere; // by stage and micro-batch: when its inputs have arrived
  private final double[] backwardThere;
  private final double[] forwardDone;
  private final double[] backwardDone;
  private final int[] next;
  private final boolean[] busy;
  private final double[] free;

  private final EventQueue events = new EventQueue();
  private final FairShare shares;
  private final Flights flights = new Flights();

  private EventSimulator(Schedule schedule, OpTimes times, double[] bytes, Wires wires) {
    this.schedule = schedule;
    this.times = times;
    this.bytes = bytes;
    this.wires = wires;
    this.placement = schedule.placement();
    this.shares = new FairShare(wires);
    int places = Math.multiplyExact(schedule.stages(), schedule.microBatches());
    forwardThere = unknown(places);
    backwardThere = unknown(places);
    forwardDone = unknown(places);
    backwardDone = unknown(places);
    next = new int[schedule.ranks()];
    busy = new boolean[schedule.ranks()];
    free = new double[schedule.ranks()];
    starts = new double[schedule.ranks()][];
    ends = new double[schedule.ranks()][];
    for (int rank = 0; rank < ends.length; rank++) {
      starts[rank] = new double[schedule.packed(rank).length];
      ends[rank] = new double[schedule.packed(rank).length];
    }
  }

  private static double[] unknown(int size) {
    double[] times = new double[size];
    Arrays.fill(times, Double.NaN);
    return times;
  }

  /**
   * Runs a schedule.
   *
   * @param times of ops; its transfer time is not used
   * @param bytes what one micro-batch sends from each stage to the next, and back
   */
  public static Run run(Schedule schedule, OpTimes times, double[] bytes, Wires wires) {
    Check.that(
        bytes.length == schedule.stages() && times.forward().length == schedule.stages(),
        "one time and size per stage: times=%d, sizes=%d, stages=%d",
        times.forward().length,
        bytes.length,
        schedule.stages());
    EventSimulator run = new EventSimulator(schedule, times, bytes, wires);
    return run.run();
  }

  private Run run() {
    for (int rank = 0; rank < next.length; rank++) {
      start(rank, 0);
    }
    while (!events.isEmpty()) {
      double now = events.time();
      long event = events.poll();
      int subject = (int) event;
      if (event >>> 32 == 0) {
        finish(subject, now);
      } else {
        land(subject, (int) (event >>> 32), now);
      }
    }
    for (int rank = 0; rank < next.length; rank++) {
      Check.that(
          next[rank] == ends[rank].length,
          "a rank waits for ever: schedule=%s, rank=%d, op=%d",
          schedule.name(),
          rank,
          next[rank]);
    }
    return new Run(schedule, starts, ends, forwardThere, backwardThere);
  }

  private int place(int stage, int microBatch) {
    return stage * schedule.microBatches() + microBatch;
  }

  /** Starts the next op of a rank, with those that run together with it, where they can. */
  private void start(int rank, double now) {
    long[] program = schedule.packed(rank);
    if (busy[rank] || next[rank] == program.length) {
      return;
    }
    int last = next[rank];
    double duration = 0;
    while (true) {
      if (!ready(program[last])) {
        return;
      }
      double seconds = times.seconds(program[last]);
      duration = times.overlapped() ? Math.max(duration, seconds) : duration + seconds;
      if (last == program.length - 1 || !Schedule.isJoined(program[last])) {
        break;
      }
      last++;
    }
    busy[rank] = true;
    Arrays.fill(starts[rank], next[rank], last + 1, now);
    free[rank] = now + duration;
    events.add(now + duration, rank);
  }

  private boolean ready(long op) {
    int stage = Schedule.stage(op);
    int place = place(stage, Schedule.microBatch(op));
    return switch (Schedule.pass(op)) {
      case FORWARD -> placement.first(stage) || known(forwardThere[place]);
      case BACKWARD, BACKWARD_INPUT ->
          known(forwardDone[place]) && (placement.last(stage) || known(backwardThere[place]));
      case BACKWARD_WEIGHT -> known(backwardDone[place]);
      case RECOMPUTE -> known(forwardDone[place]);
      case UPDATE, REDUCE, GATHER, HAND_ON -> true;
    };
  }

  private static boolean known(double time) {
    return !Double.isNaN(time);
  }

  /** Ends the ops that a rank is at. */
  private void finish(int rank, double now) {
    long[] program = schedule.packed(rank);
    busy[rank] = false;
    boolean more = true;
    while (more) {
      int at = next[rank]++;
      ends[rank][at] = now;
      more = Schedule.isJoined(program[at]) && at < program.length - 1;
      announce(rank, program[at], now);
    }
    start(rank, now);
  }

  private void announce(int rank, long op, double now) {
    int stage = Schedule.stage(op);
    int microBatch = Schedule.microBatch(op);
    int place = place(stage, microBatch);
    switch (Schedule.pass(op)) {
      case FORWARD -> {
        forwardDone[place] = now;
        if (!placement.last(stage)) {
          send(rank, stage + 1, microBatch, true, bytes[stage], now);
        }
      }
      case BACKWARD, BACKWARD_INPUT -> {
        backwardDone[place] = now;
        if (!placement.first(stage)) {
          send(rank, stage - 1, microBatch, false, bytes[stage - 1], now);
        }
      }
      case BACKWARD_WEIGHT,
          RECOMPUTE,
          UPDATE,
          REDUCE,
          GATHER,
          HAND_ON -> {} // nobody else waits for these
    }
  }

  private void send(int rank, int stage, int microBatch, boolean forward, double size, double now) {
    int to = placement.rankOf(stage);
    if (to == rank) {
      arrive(stage, microBatch, forward, now);
      return;
    }
    int flight = flights.depart(stage, microBatch, forward, size, now + wires.latency());
    shares.add(flight, wires.route(rank, to));
    reschedule(now);
  }

  /** Messages whose rates have changed land at another time. */
  private void reschedule(double now) {
    for (int i = 0; i < shares.changed(); i++) {
      int flight = shares.changed(i);
      if (flights.rate(flight) != shares.rate(flight)) {
        flights.progress(flight, now, shares.rate(flight));
        events.add(flights.landing(flight), (long) flights.version(flight) << 32 | flight);
      }
    }
  }

  private void land(int flight, int version, double now) {
    if (flights.version(flight) != version) {
      return; // it has got another rate since
    }
    shares.remove(flight);
    int stage = flights.stage(flight);
    int microBatch = flights.microBatch(flight);
    boolean forward = flights.forward(flight);
    flights.end(flight);
    reschedule(now);
    arrive(stage, microBatch, forward, now);
    start(placement.rankOf(stage), now);
  }

  private void arrive(int stage, int microBatch, boolean forward, double now) {
    double[] there = forward ? forwardThere : backwardThere;
    there[place(stage, microBatch)] = now;
  }
}
