package dev.pipewright.sim;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.timed.OpTimes;
import dev.pipewright.units.Check;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * When every op of a schedule starts and ends, each rank running its program in order and nothing
 * shared between messages of different ranks: a longest path, found in one pass. Ops that run
 * together start together.
 *
 * <p>O(ops); a rank that has to wait is put aside until what it waits for is done.
 */
public final class StaticSimulator implements Exchanges.Host {
  private static final long NOTHING = -1;
  private static final long EXCHANGE = -2;

  private final Schedule schedule;
  private final OpTimes times;
  private final Conditions conditions;
  private final Placement placement;
  private final int microBatches;
  private final double[][] starts; // by rank and position in its program
  private final double[][] ends;

  private final double[] activationAt; // by stage and micro-batch; NaN until known
  private final double[] gradientAt;
  private final double[] forwardEnd;
  private final double[] gradientEnd; // of the input's
  private final Ways ways;
  private final @Nullable Exchanges exchanges;
  private final ArrayDeque<Exchanges.Exchange> begun = new ArrayDeque<>();

  private final int[] next; // by rank
  private final double[] free; // by rank
  private final long[] awaited; // by rank: the place it waits for
  private final int[] waiting; // ranks that may move, a stack
  private int count;
  private int current = -1; // the rank that moves

  private StaticSimulator(Schedule schedule, OpTimes times, Conditions conditions) {
    this.schedule = schedule;
    this.times = times;
    this.conditions = conditions;
    this.placement = schedule.placement();
    this.microBatches = schedule.microBatches();
    int ranks = schedule.ranks();
    starts = new double[ranks][];
    ends = new double[ranks][];
    for (int rank = 0; rank < ranks; rank++) {
      starts[rank] = new double[schedule.packed(rank).length];
      ends[rank] = new double[schedule.packed(rank).length];
    }
    int places = Math.multiplyExact(schedule.stages(), microBatches);
    activationAt = unknown(places);
    gradientAt = unknown(places);
    forwardEnd = unknown(places);
    gradientEnd = unknown(places);
    for (int stage = 0; stage < schedule.stages(); stage += placement.depth()) {
      Arrays.fill(activationAt, stage * microBatches, (stage + 1) * microBatches, 0);
    }
    ways = new Ways(placement, times, conditions.transfers());
    exchanges = schedule.exchanging() ? new Exchanges(schedule, this) : null;
    next = new int[ranks];
    free = new double[ranks];
    awaited = new long[ranks];
    waiting = new int[ranks];
    Arrays.fill(awaited, NOTHING);
  }

  private static double[] unknown(int size) {
    double[] times = new double[size];
    Arrays.fill(times, Double.NaN);
    return times;
  }

  /** Messages are late and nothing else. */
  public static Run run(Schedule schedule, OpTimes times) {
    return run(schedule, times, Conditions.PLAIN);
  }

  /**
   * Runs a schedule that {@code Validator} finds no fault with; throws where ranks wait for ever.
   *
   * @param conditions without slowdown and looking ahead, which depend on what else is under way
   */
  public static Run run(Schedule schedule, OpTimes times, Conditions conditions) {
    Check.that(
        times.stages() == schedule.stages(),
        "one time per stage: times=%d, stages=%d",
        times.stages(),
        schedule.stages());
    Check.that(
        conditions.slowdown() == 1,
        "a slowdown by communication needs the event simulator: slowdown=%s",
        conditions.slowdown());
    Check.that(
        conditions.lookAhead() == 0,
        "an order that changes on the way needs the event simulator: look_ahead=%d",
        conditions.lookAhead());
    return new StaticSimulator(schedule, times, conditions).run();
  }

  private Run run() {
    for (int rank = next.length - 1; rank >= 0; rank--) {
      waiting[count++] = rank;
    }
    while (count > 0) {
      advance(waiting[--count]);
      finishExchanges();
    }
    for (int rank = 0; rank < next.length; rank++) {
      Check.that(
          next[rank] == schedule.packed(rank).length,
          "a rank waits for ever: schedule=%s, rank=%d, op=%d",
          schedule.name(),
          rank,
          next[rank]);
    }
    return new Run(schedule, starts, ends, activationAt, gradientAt);
  }

  /** Runs a rank until its program ends or it has to wait. */
  private void advance(int rank) {
    long[] program = schedule.packed(rank);
    awaited[rank] = NOTHING;
    current = rank;
    while (next[rank] < program.length && awaited[rank] == NOTHING) {
      if (exchanges != null && Schedule.pass(program[next[rank]]).exchanges()) {
        exchange(rank, exchanges);
      } else {
        compute(rank, program);
      }
    }
  }

  /** Hands an exchange to the rank's communication stream. */
  private void exchange(int rank, Exchanges streams) {
    int position = next[rank]++;
    if (conditions.blocking()) {
      awaited[rank] = EXCHANGE; // its end lets the rank go on
    }
    streams.issue(rank, position, free[rank]);
    finishExchanges();
  }

  /** Runs the next op, with those that run together with it, where it can. */
  private void compute(int rank, long[] program) {
    int first = next[rank];
    int last = first;
    double start = free[rank];
    double duration = 0;
    while (true) {
      double ready = ready(program[last]);
      if (Double.isNaN(ready)) {
        awaited[rank] = lacks(program[last]);
        return;
      }
      start = Math.max(start, ready);
      double seconds = times.seconds(program[last]) * conditions.factor(rank, last);
      duration = times.overlapped() ? Math.max(duration, seconds) : duration + seconds;
      if (last == program.length - 1 || !Schedule.isJoined(program[last])) {
        break;
      }
      last++;
    }
    double end = start + duration;
    free[rank] = end;
    next[rank] = last + 1;
    for (int i = first; i <= last; i++) {
      starts[rank][i] = start;
      ends[rank][i] = end;
      announce(rank, program[i], end);
    }
  }

  private int place(int stage, int microBatch) {
    return stage * microBatches + microBatch;
  }

  /** When an op's inputs are there; NaN as long as nobody knows. */
  private double ready(long op) {
    int stage = Schedule.stage(op);
    Pass pass = Schedule.pass(op);
    double exchanged = exchanges == null ? 0 : exchanges.ready(stage);
    if (pass == Pass.UPDATE) {
      return exchanged;
    }
    int place = place(stage, Schedule.microBatch(op));
    double there =
        switch (pass) {
          case FORWARD -> activationAt[place];
          case BACKWARD, BACKWARD_INPUT -> gradientAt[place];
          case BACKWARD_WEIGHT -> gradientEnd[place];
          default -> forwardEnd[place]; // of a recomputation
        };
    return Math.max(there, exchanged);
  }

  /**
   * What an op that cannot run waits for: an exchange, or another rank's activation or gradient.
   */
  private long lacks(long op) {
    int stage = Schedule.stage(op);
    if (exchanges != null && Double.isNaN(exchanges.ready(stage))) {
      return EXCHANGE;
    }
    return 2L * place(stage, Schedule.microBatch(op)) + (Schedule.pass(op) == Pass.FORWARD ? 0 : 1);
  }

  private void announce(int rank, long op, double end) {
    int stage = Schedule.stage(op);
    Pass pass = Schedule.pass(op);
    if (exchanges != null) {
      exchanges.used(rank, stage, end);
    }
    if (pass == Pass.FORWARD) {
      int place = place(stage, Schedule.microBatch(op));
      forwardEnd[place] = end;
      if (placement.last(stage)) {
        gradientAt[place] = end; // the loss
      } else {
        deliver(rank, stage, stage + 1, place + microBatches, activationAt, end);
      }
    } else if (pass.propagates()) {
      int place = place(stage, Schedule.microBatch(op));
      gradientEnd[place] = end;
      if (!placement.first(stage)) {
        deliver(rank, stage, stage - 1, place - microBatches, gradientAt, end);
      }
    }
  }

  /** Sends an op's output to a neighbour stage. */
  private void deliver(int rank, int from, int to, int place, double[] at, double end) {
    int other = placement.rankOf(to);
    if (other == rank) {
      at[place] = end;
      return;
    }
    double produced = conditions.blocking() ? free[rank] : end;
    at[place] = ways.arrival(from, to, produced);
    if (conditions.blocking()) {
      free[rank] = at[place];
    }
    if (awaited[other] == 2L * place + (to > from ? 0 : 1)) {
      wake(other);
    }
  }

  private void wake(int rank) {
    awaited[rank] = NOTHING;
    if (rank != current) {
      waiting[count++] = rank;
    }
  }

  @Override
  public void begin(Exchanges.Exchange exchange) {
    begun.add(exchange);
  }

  private void finishExchanges() {
    while (!begun.isEmpty()) {
      Exchanges.Exchange exchange = begun.remove();
      record(exchange, exchange.start() + exchange.seconds(schedule, times));
    }
  }

  private void record(Exchanges.Exchange exchange, double end) {
    for (int member = 0; member < exchange.ranks().size(); member++) {
      int rank = exchange.ranks().get(member);
      starts[rank][exchange.position(member)] = exchange.start();
      ends[rank][exchange.position(member)] = end;
      if (conditions.blocking()) {
        free[rank] = Math.max(free[rank], end);
      }
    }
    Objects.requireNonNull(exchanges).end(exchange, end);
    for (int rank : exchange.ranks()) {
      if (awaited[rank] == EXCHANGE) {
        wake(rank);
      }
    }
  }
}
