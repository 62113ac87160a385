package dev.pipewright.sim;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OpTimes;
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
  private static final int NOTHING = Inputs.NONE;
  private static final int EXCHANGE = -2;
  private static final int FORWARD = Pass.FORWARD.code();
  private static final int BACKWARD = Pass.BACKWARD.code();
  private static final int BACKWARD_INPUT = Pass.BACKWARD_INPUT.code();

  private final Schedule schedule;
  private final OpTimes times;
  private final Conditions conditions;
  private final int[] after; // by stage: the rank of the next one; −1 for the last
  private final int[] before;
  private final double[][] starts; // by rank and position in its program
  private final double[][] ends;
  private final Inputs inputs;
  private final double[][] seconds; // by code of the pass, and stage
  private final Routes ways;
  private final @Nullable Exchanges exchanges;
  private final ArrayDeque<Exchanges.Exchange> begun = new ArrayDeque<>();

  private final int[] next; // by rank
  private final double[] free; // by rank
  private final int[] awaited; // by rank: the input it waits for
  private final int[] waiting; // ranks that may move, a stack
  private int count;
  private int current = -1; // the rank that moves

  private StaticSimulator(Schedule schedule, OpTimes times, Conditions conditions) {
    this.schedule = schedule;
    this.times = times;
    this.conditions = conditions;
    Placement placement = schedule.placement();
    inputs = new Inputs(schedule);
    int ranks = schedule.ranks();
    starts = new double[ranks][];
    ends = new double[ranks][];
    for (int rank = 0; rank < ranks; rank++) {
      starts[rank] = new double[schedule.packed(rank).length];
      ends[rank] = new double[schedule.packed(rank).length];
    }
    after = new int[schedule.stages()];
    before = new int[schedule.stages()];
    Arrays.setAll(after, stage -> placement.last(stage) ? -1 : placement.rankOf(stage + 1));
    Arrays.setAll(before, stage -> placement.first(stage) ? -1 : placement.rankOf(stage - 1));
    seconds = seconds(schedule.stages(), times);
    ways = new Routes(placement, times, conditions.transfers());
    exchanges = schedule.exchanging() ? new Exchanges(schedule, this) : null;
    next = new int[ranks];
    free = new double[ranks];
    awaited = new int[ranks];
    waiting = new int[ranks];
    Arrays.fill(awaited, NOTHING);
  }

  private static double[][] seconds(int stages, OpTimes times) {
    double[][] seconds = new double[Pass.values().length][stages];
    for (Pass pass : Pass.values()) {
      for (int stage = 0; stage < stages; stage++) {
        seconds[pass.code()][stage] = times.seconds(Schedule.pack(pass, stage, 0));
      }
    }
    return seconds;
  }

  /** Messages are late and nothing else. */
  public static Run run(Schedule schedule, OpTimes times) {
    return run(schedule, times, Conditions.PLAIN);
  }

  /**
   * Runs a schedule that {@code Validator} finds no fault with; throws where ranks wait for ever.
   *
   * @param conditions without slowdown, looking ahead and shared links, which depend on what else
   *     is under way
   */
  public static Run run(Schedule schedule, OpTimes times, Conditions conditions) {
    Check.that(
        times.stages() == schedule.stages(),
        "one time per stage: times=%d, stages=%d",
        times.stages(),
        schedule.stages());
    Check.that(
        conditions.fixed(),
        "what depends on what else is under way needs the event simulator: conditions=%s",
        conditions);
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
    Deadlock.check(schedule, next);
    return new Run(schedule, starts, ends, inputs);
  }

  /** Runs a rank until its program ends or it has to wait. */
  private void advance(int rank) {
    long[] program = schedule.packed(rank);
    awaited[rank] = NOTHING;
    current = rank;
    while (next[rank] < program.length && awaited[rank] == NOTHING) {
      long op = program[next[rank]];
      if (Schedule.isJoined(op)) {
        together(rank, program);
      } else if (exchanges != null && Schedule.pass(op).exchanges()) {
        exchange(rank, exchanges);
      } else {
        compute(rank, op);
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

  /** Runs the next op where it can. */
  private void compute(int rank, long op) {
    double ready = ready(op);
    if (Double.isNaN(ready)) {
      awaited[rank] = lacks(op);
      return;
    }
    int at = next[rank]++;
    double start = Math.max(free[rank], ready);
    double end = start + seconds(rank, at, op);
    free[rank] = end;
    starts[rank][at] = start;
    ends[rank][at] = end;
    announce(rank, op, end);
  }

  private double seconds(int rank, int position, long op) {
    double each =
        times.isByStage() ? seconds[Schedule.code(op)][Schedule.stage(op)] : times.seconds(op);
    return each * conditions.factor(rank, position);
  }

  /** Runs the next ops, which run together, where all can. */
  private void together(int rank, long[] program) {
    int first = next[rank];
    int last = first - 1;
    double start = free[rank];
    double duration = 0;
    do {
      long op = program[++last];
      double ready = ready(op);
      if (Double.isNaN(ready)) {
        awaited[rank] = lacks(op);
        return;
      }
      start = Math.max(start, ready);
      double each = seconds(rank, last, op);
      duration = times.overlapped() ? Math.max(duration, each) : duration + each;
    } while (Schedule.isJoined(program[last]) && last < program.length - 1);
    next[rank] = last + 1;
    free[rank] = start + duration;
    for (int i = first; i <= last; i++) {
      starts[rank][i] = start;
      ends[rank][i] = start + duration;
      announce(rank, program[i], start + duration);
    }
  }

  /**
   * When an op's inputs from other ranks are there; NaN as long as that is unknown. What it needs
   * of its own rank comes before it in the program.
   */
  private double ready(long op) {
    double there = inputs.at(inputs.of(op));
    return exchanges == null ? there : Math.max(there, exchanges.ready(Schedule.stage(op)));
  }

  /**
   * What an op that cannot run waits for: an exchange, or another rank's activation or gradient.
   */
  private int lacks(long op) {
    return exchanges != null && Double.isNaN(exchanges.ready(Schedule.stage(op)))
        ? EXCHANGE
        : inputs.of(op);
  }

  private void announce(int rank, long op, double end) {
    int stage = Schedule.stage(op);
    int code = Schedule.code(op);
    if (exchanges != null && Schedule.pass(op).endsTurn()) {
      exchanges.used(rank, stage, end);
    }
    if (code == FORWARD) {
      int microBatch = Schedule.microBatch(op);
      if (after[stage] < 0) {
        inputs.arrive(inputs.gradient(stage, microBatch), end); // the loss
      } else {
        deliver(rank, stage, stage + 1, inputs.activation(stage + 1, microBatch), end);
      }
    } else if ((code == BACKWARD || code == BACKWARD_INPUT) && before[stage] >= 0) {
      deliver(rank, stage, stage - 1, inputs.gradient(stage - 1, Schedule.microBatch(op)), end);
    }
  }

  /** Sends an op's output to a neighbour stage, whose input it is. */
  private void deliver(int rank, int from, int to, int input, double end) {
    int other = to > from ? after[from] : before[from];
    if (other == rank) {
      inputs.arrive(input, end);
      return;
    }
    double produced = conditions.blocking() ? free[rank] : end;
    double arrival = ways.arrival(from, to, produced);
    inputs.arrive(input, arrival);
    if (conditions.blocking()) {
      free[rank] = arrival;
    }
    if (awaited[other] == input) {
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
