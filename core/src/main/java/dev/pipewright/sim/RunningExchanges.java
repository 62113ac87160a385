package dev.pipewright.sim;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OpTimes;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The exchanges under way in an event-driven simulation: those between ranks as rounds of messages
 * where there are wires, all others as long as their times say.
 */
final class RunningExchanges {
  private static final class Running {
    private final Exchanges.Exchange exchange;
    private final List<List<CollectiveRounds.Message>> rounds;
    private int round = -1;
    private int missing; // messages of this round that have not landed

    Running(Exchanges.Exchange exchange, List<List<CollectiveRounds.Message>> rounds) {
      this.exchange = exchange;
      this.rounds = rounds;
    }
  }

  private final Schedule schedule;
  private final OpTimes times;
  private final @Nullable Traffic traffic;
  private final MessagesInFlight messages;
  private final EventQueue events;
  private final List<Running> running = new ArrayList<>();

  RunningExchanges(
      Schedule schedule,
      OpTimes times,
      @Nullable Traffic traffic,
      MessagesInFlight messages,
      EventQueue events) {
    this.schedule = schedule;
    this.times = times;
    this.traffic = traffic;
    this.messages = messages;
    this.events = events;
  }

  /** Begins an exchange; an event tells of its end. */
  void begin(Exchanges.Exchange exchange) {
    int index = running.size();
    boolean moves = traffic != null && (exchange.ranks().size() > 1 || exchange.from() >= 0);
    running.add(
        new Running(exchange, traffic != null && moves ? rounds(exchange, traffic) : List.of()));
    if (moves) {
      nextRound(index, exchange.start());
    } else {
      double end = exchange.start() + exchange.seconds(schedule, times);
      events.add(end, Event.exchanged(index));
    }
  }

  private static List<List<CollectiveRounds.Message>> rounds(
      Exchanges.Exchange exchange, Traffic traffic) {
    double bytes = traffic.states()[Schedule.stage(exchange.op())];
    Pass pass = Schedule.pass(exchange.op());
    if (pass != Pass.HAND_ON) {
      return traffic.collective().of(pass, exchange.ranks(), bytes);
    }
    int to = exchange.ranks().get(0);
    return exchange.from() == to
        ? List.of()
        : List.of(List.of(new CollectiveRounds.Message(exchange.from(), to, bytes)));
  }

  private void nextRound(int index, double now) {
    Running of = running.get(index);
    if (++of.round == of.rounds.size()) {
      events.add(now, Event.exchanged(index));
      return;
    }
    of.missing = of.rounds.get(of.round).size();
    for (CollectiveRounds.Message message : of.rounds.get(of.round)) {
      messages.send(message.from(), message.to(), message.bytes(), -1L - index, now);
    }
  }

  /** Whether a message's cargo is of an exchange. */
  static boolean owns(long cargo) {
    return cargo < 0;
  }

  /** A message of an exchange has landed. */
  void landed(long cargo, double now) {
    int index = (int) (-1 - cargo);
    if (--running.get(index).missing == 0) {
      nextRound(index, now);
    }
  }

  /** The exchange that an event ends. */
  Exchanges.Exchange ended(long event) {
    return running.get(Event.subject(event)).exchange;
  }
}
