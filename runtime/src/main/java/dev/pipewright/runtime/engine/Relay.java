package dev.pipewright.runtime.engine;

import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.HandOns;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Pending;
import dev.pipewright.runtime.transport.Transport;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * A worker's part in handing a stage's sums on, from turn to turn and from worker to worker: no
 * collective operation, one message behind each turn. What nobody here needs any more is freed.
 */
final class Relay {
  static final int FIRST_TAG = 1 << 30; // behind all of other messages
  private static final int MOST_SUMS = 4; // in one message

  private final Assignment all;
  private final int depth;
  private final int rank;
  private final Transport transport;
  private final FlowSums sums;
  private final Departures departures;
  private final HandOns handOns;
  private final List<Arriving> arriving = new ArrayList<>();
  private final NavigableMap<Integer, NavigableMap<Integer, Event>> events =
      new TreeMap<>(); // by update and position

  /** What happens to a sum here; of those at one op the last. */
  private enum Event {
    COMES,
    GROWS,
    IS_READ,
    GOES
  }

  private record Arriving(int update, Tensor tensor, Pending pending) {}

  Relay(Assignment all, int depth, Transport transport, FlowSums sums, Departures departures) {
    this.all = all;
    this.depth = depth;
    this.rank = all.rankOf(transport.worker());
    this.transport = transport;
    this.sums = sums;
    this.departures = departures;
    this.handOns = HandOns.of(all, depth);
    findEvents(all.schedule().packed(rank));
  }

  private void findEvents(long[] program) {
    for (int i = 0; i < program.length; i++) {
      if (Schedule.stage(program[i]) % all.stages().size() == depth) {
        int number = Schedule.microBatch(program[i]);
        Pass pass = Schedule.pass(program[i]);
        if (pass == Pass.BACKWARD) {
          int microBatch = all.inFlow(Schedule.stage(program[i]), number);
          put(microBatch / all.flow().orElseThrow().perUpdate(depth), i, Event.GROWS);
        } else if (pass == Pass.UPDATE) {
          put(number, i, Event.IS_READ);
        } else if (pass == Pass.HAND_ON && handOns.comes(number)) {
          for (int update : handOns.carried(number)) {
            put(update, i, Event.COMES);
          }
        }
        int at = i;
        handOns.over(rank, i).ifPresent(turn -> findGoing(turn + 1, at));
      }
    }
  }

  private void findGoing(int turn, int position) {
    if (turn < handOns.size() && handOns.comes(turn)) {
      for (int update : handOns.carried(turn)) {
        put(update, position, Event.GOES);
      }
    }
  }

  private void put(int update, int position, Event event) {
    events.computeIfAbsent(update, key -> new TreeMap<>()).put(position, event);
  }

  /** Asks for what a turn gets. */
  void ask(int turn) {
    if (!handOns.comes(turn)) {
      return;
    }
    int from = all.firstWorker(handOns.turn(turn - 1).rank());
    List<Integer> carried = handOns.carried(turn);
    try (Scope scope = new Scope()) {
      for (int i = 0; i < carried.size(); i++) {
        Tensor room = scope.keep(sums.room());
        Pending pending = transport.receive(room, from, tag(turn, i));
        arriving.add(new Arriving(carried.get(i), room, pending));
      }
      if (carried.isEmpty()) { // only to say whose turn it is
        Tensor room = scope.keep(Tensor.zeros(1));
        arriving.add(new Arriving(-1, room, transport.receive(room, from, tag(turn, 0))));
      }
    }
  }

  /** Waits for all that was asked for. */
  void await() {
    for (Arriving each : arriving) {
      each.pending().await();
      if (each.update() >= 0) {
        sums.add(each.update(), each.tensor());
      }
      each.tensor().close();
    }
    arriving.clear();
  }

  /** An op of the stage has ended: hands on what the next turn needs. */
  void ended(int position) {
    handOns.over(rank, position).ifPresent(turn -> handOn(turn + 1));
    Iterator<Map.Entry<Integer, NavigableMap<Integer, Event>>> begun = events.entrySet().iterator();
    boolean later = false; // what comes behind has not begun either
    while (!later && begun.hasNext()) {
      Map.Entry<Integer, NavigableMap<Integer, Event>> each = begun.next();
      later = each.getValue().firstKey() > position;
      if (!later && isSpent(each.getKey(), each.getValue(), position)) {
        begun.remove();
      }
    }
  }

  private void handOn(int turn) {
    if (turn == handOns.size() || !handOns.comes(turn)) {
      return;
    }
    int to = all.firstWorker(handOns.turn(turn).rank());
    List<Integer> carried = handOns.carried(turn);
    try (Scope scope = new Scope()) {
      for (int i = 0; i < carried.size(); i++) {
        send(sums.of(carried.get(i)).shared(), to, tag(turn, i));
      }
      if (carried.isEmpty()) {
        send(scope.keep(Tensor.zeros(1)), to, tag(turn, 0));
      }
    }
  }

  private void send(Tensor tensor, int to, int tag) {
    departures.add(to, tensor, transport.send(tensor, to, tag));
  }

  /** Whether a sum has no further events, or comes again as a whole; frees it then. */
  private boolean isSpent(int update, NavigableMap<Integer, Event> own, int position) {
    Event last = own.floorEntry(position).getValue();
    Map.Entry<Integer, Event> next = own.higherEntry(position);
    if (last == Event.GROWS && next != null) {
      return false;
    }
    if (next == null || next.getValue() == Event.COMES) {
      sums.forget(update);
    }
    return next == null;
  }

  private int tag(int turn, int item) {
    return FIRST_TAG + (turn * all.stages().size() + depth) * MOST_SUMS + item;
  }

  /** Adds room for what comes. */
  void count(LiveBytes live) {
    arriving.forEach(each -> live.add(LiveBytes.Kind.MESSAGES, each.tensor()));
  }

  /** Frees what never came. */
  void close() {
    arriving.forEach(each -> each.tensor().close());
    arriving.clear();
  }
}
