package dev.pipewright.sim;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.units.Check;
import java.util.Arrays;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * When every op of a schedule starts and ends where messages share links, or communication slows
 * computing down, or ranks take what is ready: an event-driven simulation. An op's output leaves
 * when the op ends, and all messages under way share the links {@linkplain FairShare max–min
 * fairly}.
 *
 * <p>Where nothing is shared it agrees with {@link StaticSimulator}. O(log) for each event, and the
 * part of the network that a message touches.
 */
public final class EventSimulator implements Exchanges.Host {
  private final Schedule schedule;
  private final OpTimes times;
  private final Conditions conditions;
  private final @Nullable Traffic traffic;
  private final Placement placement;
  private final double[][] starts; // by rank and position in its program
  private final double[][] ends;
  private final double[][] stretched; // likewise; none where communication slows nothing down
  private final Inputs inputs;
  private final BitSet used = new BitSet(); // inputs: the pass that takes them has ended
  private final int[] next; // by rank
  private final Computing computing;
  private final double[] sendFree; // by rank: when it has sent all, where that stops it
  private final int[] communicating; // by rank: messages and exchanges under way
  private final int[] exchanging; // by rank: exchanges it has come to that are not over
  private final int[] outOfOrder; // by rank: the position of the op that has overtaken others
  private final OutOfOrder[] orders; // by rank; none where ranks keep to the order

  private final EventQueue events = new EventQueue();
  private final MessagesInFlight messages;
  private final Routes ways;
  private final @Nullable Exchanges exchanges;
  private final RunningExchanges running;

  private EventSimulator(
      Schedule schedule,
      OpTimes times,
      Conditions conditions,
      @Nullable Traffic traffic,
      @Nullable Wires wires) {
    this.schedule = schedule;
    this.times = times;
    this.conditions = conditions;
    this.traffic = traffic;
    this.placement = schedule.placement();
    this.inputs = new Inputs(schedule);
    this.messages = new MessagesInFlight(events, wires);
    this.running = new RunningExchanges(schedule, times, traffic, messages, events);
    int ranks = schedule.ranks();
    next = new int[ranks];
    computing = new Computing(ranks, conditions.slowdown(), events);
    sendFree = new double[ranks];
    communicating = new int[ranks];
    exchanging = new int[ranks];
    outOfOrder = new int[ranks];
    Arrays.fill(outOfOrder, OutOfOrder.NONE);
    orders = new OutOfOrder[conditions.lookAhead() == 0 ? 0 : ranks];
    Arrays.setAll(orders, rank -> new OutOfOrder(schedule.packed(rank), conditions.lookAhead()));
    ways = new Routes(placement, times, conditions.transfers());
    exchanges = schedule.exchanging() ? new Exchanges(schedule, this) : null;
    starts = ofOps(schedule, ranks);
    ends = ofOps(schedule, ranks);
    stretched = ofOps(schedule, conditions.slowdown() == 1 ? 0 : ranks);
  }

  private static double[][] ofOps(Schedule schedule, int ranks) {
    double[][] times = new double[ranks][];
    Arrays.setAll(times, rank -> new double[schedule.packed(rank).length]);
    return times;
  }

  /**
   * Messages and exchanges take the times of {@code times}, messages longer where they share links.
   */
  public static Run run(Schedule schedule, OpTimes times, Conditions conditions) {
    check(schedule, times.stages());
    return new EventSimulator(schedule, times, conditions, null, conditions.wires()).run();
  }

  /**
   * Messages, and exchanges of several ranks, go over shared links.
   *
   * @param times of ops; those of transfers and exchanges between ranks are not used
   * @param wires between at least as many ranks
   */
  public static Run run(
      Schedule schedule, OpTimes times, Conditions conditions, Traffic traffic, Wires wires) {
    check(schedule, times.stages());
    check(schedule, traffic.cuts().length);
    Check.that(
        conditions.transfers() != Conditions.Transfers.QUEUED,
        "messages that share links do not queue: schedule=%s",
        schedule.name());
    return new EventSimulator(schedule, times, conditions, traffic, wires).run();
  }

  private static void check(Schedule schedule, int given) {
    Check.that(
        given == schedule.stages(),
        "one time and size per stage: given=%d, stages=%d",
        given,
        schedule.stages());
  }

  private Run run() {
    for (int rank = 0; rank < next.length; rank++) {
      start(rank, 0);
    }
    while (!events.isEmpty()) {
      double now = events.time();
      long event = events.poll();
      switch (Event.kind(event)) {
        case COMPUTED -> {
          if (computing.ends(event, now)) {
            computed(Event.subject(event), now);
          }
        }
        case LANDED -> {
          if (messages.lands(event)) {
            landed(Event.subject(event), now);
          }
        }
        case EXCHANGED -> over(running.ended(event), now);
      }
    }
    Deadlock.check(schedule, next);
    return orders.length == 0 ? new Run(schedule, starts, ends, stretched, inputs) : asItRan();
  }

  /** The run of the schedule with every program in the order in which it really ran. */
  private Run asItRan() {
    long[][] programs = new long[starts.length][];
    for (int rank = 0; rank < programs.length; rank++) {
      long[] program = schedule.packed(rank);
      int[] order = orders[rank].order();
      programs[rank] = Arrays.stream(order).mapToLong(i -> program[i]).toArray();
      starts[rank] = OutOfOrder.sorted(starts[rank], order);
      ends[rank] = OutOfOrder.sorted(ends[rank], order);
      if (stretched.length > 0) {
        stretched[rank] = OutOfOrder.sorted(stretched[rank], order);
      }
    }
    Schedule ran = new Schedule(schedule.name(), placement, schedule.microBatches(), programs);
    return new Run(ran, starts, ends, stretched, inputs);
  }

  /** Starts the next op of a rank, with those that run together with it, where they can. */
  private void start(int rank, double now) {
    long[] program = schedule.packed(rank);
    while (free(rank) && next[rank] < program.length) {
      if (exchanges != null && Schedule.pass(program[next[rank]]).exchanges()) {
        exchanging[rank]++;
        begun(rank, next[rank]);
        exchanges.issue(rank, next[rank]++, now);
      } else if (orders.length > 0 && orders[rank].isDone(next[rank])) {
        next[rank]++;
      } else if (!compute(rank, program, now)) {
        if (orders.length > 0) {
          overtake(rank, program, now);
        }
        return;
      }
    }
  }

  /** Starts an op that may run although it is not its turn. */
  private void overtake(int rank, long[] program, double now) {
    int at = orders[rank].instead(next[rank], this::ready);
    if (at != OutOfOrder.NONE) {
      outOfOrder[rank] = at;
      begun(rank, at);
      starts[rank][at] = now;
      double seconds = times.seconds(program[at]) * conditions.factor(rank, at);
      computing.start(rank, seconds, now);
    }
  }

  /** Whether a rank may go on with its program. */
  private boolean free(int rank) {
    boolean communicates = communicating[rank] > 0 || exchanging[rank] > 0;
    return !computing.busy(rank) && !(conditions.blocking() && communicates);
  }

  private boolean compute(int rank, long[] program, double now) {
    int last = next[rank];
    double duration = 0;
    while (true) {
      if (!ready(program[last])) {
        return false;
      }
      double seconds = times.seconds(program[last]) * conditions.factor(rank, last);
      duration = times.overlapped() ? Math.max(duration, seconds) : duration + seconds;
      if (last == program.length - 1 || !Schedule.isJoined(program[last])) {
        break;
      }
      last++;
    }
    Arrays.fill(starts[rank], next[rank], last + 1, now);
    for (int at = next[rank]; at <= last; at++) {
      begun(rank, at);
    }
    computing.start(rank, duration, now);
    return true;
  }

  /** Notes that it was an op's turn, where that does not follow from the program. */
  private void begun(int rank, int position) {
    if (orders.length > 0) {
      orders[rank].begun(position);
    }
  }

  private boolean ready(long op) {
    int stage = Schedule.stage(op);
    if (exchanges != null && Double.isNaN(exchanges.ready(stage))) {
      return false;
    }
    int microBatch = Schedule.microBatch(op);
    return switch (Schedule.pass(op)) {
      case UPDATE -> true;
      case BACKWARD_WEIGHT -> used.get(inputs.gradient(stage, microBatch));
      case RECOMPUTE -> used.get(inputs.activation(stage, microBatch));
      default -> !Double.isNaN(inputs.at(inputs.of(op)));
    };
  }

  /** Ends the ops that a rank is at. */
  private void computed(int rank, double now) {
    long[] program = schedule.packed(rank);
    sendFree[rank] = now;
    boolean more = outOfOrder[rank] == OutOfOrder.NONE;
    if (!more) {
      orders[rank].ranEarly(outOfOrder[rank]);
      end(rank, program, outOfOrder[rank], now);
      outOfOrder[rank] = OutOfOrder.NONE;
    }
    while (more) {
      int at = next[rank]++;
      more = Schedule.isJoined(program[at]) && at < program.length - 1;
      end(rank, program, at, now);
    }
    start(rank, now);
  }

  private void end(int rank, long[] program, int at, double now) {
    ends[rank][at] = now;
    if (stretched.length > 0) {
      stretched[rank][at] = computing.stretched(rank);
    }
    if (orders.length > 0) {
      orders[rank].ended(program[at]);
    }
    announce(rank, program[at], now);
  }

  private void announce(int rank, long op, double now) {
    int stage = Schedule.stage(op);
    Pass pass = Schedule.pass(op);
    if (exchanges != null && Schedule.pass(op).endsTurn()) {
      exchanges.used(rank, stage, now);
    }
    int microBatch = Schedule.microBatch(op);
    if (pass == Pass.FORWARD) {
      used.set(inputs.activation(stage, microBatch));
      if (placement.last(stage)) {
        inputs.arrive(inputs.gradient(stage, microBatch), now); // the loss
      } else {
        deliver(rank, stage, stage + 1, inputs.activation(stage + 1, microBatch), now);
      }
    } else if (pass.propagates()) {
      used.set(inputs.gradient(stage, microBatch));
      if (!placement.first(stage)) {
        deliver(rank, stage, stage - 1, inputs.gradient(stage - 1, microBatch), now);
      }
    }
  }

  /** Sends an op's output to a neighbour stage, whose input it is. */
  private void deliver(int rank, int from, int to, int input, double now) {
    int other = placement.rankOf(to);
    if (other == rank) {
      inputs.arrive(input, now);
      return;
    }
    communicate(rank, 1, now);
    if (!conditions.blocking()) {
      communicate(other, 1, now);
    }
    if (traffic != null) {
      messages.send(rank, other, traffic.cuts()[Math.min(from, to)], input, now);
    } else if (conditions.wires() != null) {
      messages.send(rank, other, ways.seconds(from, to), input, now);
    } else {
      double leaves = conditions.blocking() ? sendFree[rank] : now;
      sendFree[rank] = ways.arrival(from, to, leaves);
      messages.send(rank, other, input, sendFree[rank]);
    }
  }

  /** Something begins, or ends, to be under way to or from a rank. */
  private void communicate(int rank, int change, double now) {
    communicating[rank] += change;
    computing.slowed(rank, communicating[rank] > 0, now);
  }

  private void landed(int flight, double now) {
    int from = messages.from(flight);
    int to = messages.to(flight);
    long cargo = messages.cargo(flight);
    messages.end(flight, now);
    if (RunningExchanges.owns(cargo)) {
      running.landed(cargo, now);
      return;
    }
    communicate(from, -1, now);
    if (!conditions.blocking()) {
      communicate(to, -1, now);
    }
    inputs.arrive((int) cargo, now);
    start(to, now);
    start(from, now);
  }

  @Override
  public void begin(Exchanges.Exchange exchange) {
    for (int rank : exchange.ranks()) {
      communicate(rank, 1, exchange.start());
    }
    running.begin(exchange);
  }

  private void over(Exchanges.Exchange exchange, double now) {
    for (int member = 0; member < exchange.ranks().size(); member++) {
      int rank = exchange.ranks().get(member);
      starts[rank][exchange.position(member)] = exchange.start();
      ends[rank][exchange.position(member)] = now;
      communicate(rank, -1, now);
      exchanging[rank]--;
    }
    if (exchanges != null) {
      exchanges.end(exchange, now);
    }
    for (int rank : exchange.ranks()) {
      start(rank, now);
    }
  }
}
