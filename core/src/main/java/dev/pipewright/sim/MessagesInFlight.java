package dev.pipewright.sim;

import org.jspecify.annotations.Nullable;

/**
 * The messages under way: over wires they share bandwidth max–min fairly from the moment they
 * leave, otherwise each lands when its sender says. Landings are events of the simulator's queue.
 */
final class MessagesInFlight {
  private final EventQueue events;
  private final @Nullable Wires wires;
  private final @Nullable FairShare shares;
  private final Flights flights = new Flights();

  MessagesInFlight(EventQueue events, @Nullable Wires wires) {
    this.events = events;
    this.wires = wires;
    this.shares = wires == null ? null : new FairShare(wires);
  }

  /** A message over the wires. */
  void send(int from, int to, double bytes, long cargo, double now) {
    if (wires == null || shares == null) {
      throw new IllegalStateException("messages of so many bytes go over wires");
    }
    int flight = flights.depart(from, to, cargo, bytes, now + wires.latency());
    shares.add(flight, wires.route(from, to));
    reschedule(shares, now);
  }

  /** A message that lands at a given time. */
  void send(int from, int to, long cargo, double landing) {
    int flight = flights.depart(from, to, cargo, 0, landing);
    events.add(landing, Event.landing(flight, flights.version(flight)));
  }

  /** Messages whose rates have changed land at another time. */
  private void reschedule(FairShare changed, double now) {
    for (int i = 0; i < changed.changed(); i++) {
      int flight = changed.changed(i);
      if (flights.rate(flight) != changed.rate(flight)) {
        flights.progress(flight, now, changed.rate(flight));
        events.add(flights.landing(flight), Event.landing(flight, flights.version(flight)));
      }
    }
  }

  /** Whether an event is the landing of a message, and not void since its rate has changed. */
  boolean lands(long event) {
    return flights.version(Event.subject(event)) == Event.version(event);
  }

  int from(int flight) {
    return flights.from(flight);
  }

  int to(int flight) {
    return flights.to(flight);
  }

  long cargo(int flight) {
    return flights.cargo(flight);
  }

  /** Forgets a message that has landed. */
  void end(int flight, double now) {
    if (shares != null) {
      shares.remove(flight);
    }
    flights.end(flight);
    if (shares != null) {
      reschedule(shares, now);
    }
  }
}
