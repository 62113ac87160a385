package dev.pipewright.schedule;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.timed.OpTimes;
import dev.pipewright.schedule.timed.StepTimes;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.ToDoubleFunction;

/**
 * When the ops of a schedule run, exchanges among them, found by going over all of them until none
 * is left: slow, but nothing but the rules of {@link Op}.
 */
public final class ExchangeExecution {
  /** Where an op stands. */
  public record Place(int rank, int position) {}

  private final Schedule schedule;
  private final ToDoubleFunction<Op> seconds;
  private final List<List<Op>> programs = new ArrayList<>();
  private final Map<Op, Place> places = new HashMap<>(); // of all but collectives
  private final Map<String, List<Place>> meetings = new HashMap<>(); // of collectives
  private final Map<String, Place> turns = new HashMap<>();
  private final double[][] starts;
  private final double[][] ends;
  private final List<Place> order = new ArrayList<>();

  /** Passes take a slot, everything else no time. */
  public static ExchangeExecution ofSlots(Schedule schedule) {
    return new ExchangeExecution(schedule, op -> compute(op) && op.pass() != Pass.UPDATE ? 1 : 0);
  }

  public ExchangeExecution(Schedule schedule, ToDoubleFunction<Op> seconds) {
    this.schedule = schedule;
    this.seconds = seconds;
    starts = new double[schedule.ranks()][];
    ends = new double[schedule.ranks()][];
    int left = 0;
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      List<Op> program = schedule.program(rank);
      programs.add(program);
      starts[rank] = new double[program.size()];
      ends[rank] = new double[program.size()];
      Arrays.fill(ends[rank], Double.NaN);
      left += program.size();
      for (int at = 0; at < program.size(); at++) {
        list(program.get(at), new Place(rank, at));
      }
    }
    while (true) {
      int before = order.size();
      sweep();
      if (order.size() == before) {
        break;
      }
    }
    assertEquals(left, order.size(), () -> "ranks wait for ever:\n" + Picture.of(schedule));
  }

  private void list(Op op, Place place) {
    if (op.pass() == Pass.HAND_ON) {
      assertEquals(null, turns.put(key(op, op.microBatch()), place), () -> "twice: " + op);
    } else if (op.pass().exchanges()) {
      meetings.computeIfAbsent(key(op, op.microBatch()), k -> new ArrayList<>()).add(place);
    } else {
      assertEquals(null, places.put(op, place), () -> "twice: " + op.stage() + op);
    }
  }

  private String key(Op op, int number) {
    return op.pass() + " " + op.stage() % schedule.placement().depth() + " " + number;
  }

  public static boolean compute(Op op) {
    return !op.pass().exchanges();
  }

  private void sweep() {
    for (int rank = 0; rank < programs.size(); rank++) {
      for (int at = 0; at < programs.get(rank).size(); at++) {
        if (Double.isNaN(ends[rank][at])) {
          Op op = programs.get(rank).get(at);
          double start = op.pass().exchanges() ? exchange(rank, at, op) : computing(rank, at, op);
          if (!Double.isNaN(start)) {
            end(new Place(rank, at), start);
          }
        }
      }
    }
  }

  private void end(Place place, double start) {
    double duration = alone(place) ? 0 : seconds.applyAsDouble(op(place));
    starts[place.rank()][place.position()] = start;
    ends[place.rank()][place.position()] = start + duration;
    order.add(place);
  }

  /** Whether it is a hand-on to the rank that has it already. */
  private boolean alone(Place place) {
    Op op = op(place);
    return op.pass() == Pass.HAND_ON
        && (op.microBatch() == 0 || release(op).rank() == place.rank());
  }

  private double computing(int rank, int at, Op op) {
    double start = 0;
    for (int i = 0; i < at; i++) {
      Op before = programs.get(rank).get(i);
      if (compute(before) || before.stage() == op.stage()) {
        start = latest(start, ends[rank][i]);
      }
    }
    Placement placement = schedule.placement();
    if (op.pass() == Pass.FORWARD && !placement.first(op.stage())) {
      start = latest(start, ended(Pass.FORWARD, op.stage() - 1, op.microBatch()));
    }
    if (op.pass() == Pass.BACKWARD) {
      start = latest(start, ended(Pass.FORWARD, op.stage(), op.microBatch()));
      if (!placement.last(op.stage())) {
        start = latest(start, ended(Pass.BACKWARD, op.stage() + 1, op.microBatch()));
      }
    }
    return start;
  }

  private double exchange(int rank, int at, Op op) {
    if (op.pass() == Pass.HAND_ON) {
      double start = reached(rank, at);
      if (op.microBatch() > 0) {
        start = latest(start, at(ends, release(op)));
      }
      return start;
    }
    double start = 0;
    List<Place> meeting = requireNonNull(meetings.get(key(op, op.microBatch())));
    Set<Integer> members = new HashSet<>();
    for (int stage = 0; stage < schedule.stages(); stage++) {
      if (stage % schedule.placement().depth() == op.stage() % schedule.placement().depth()) {
        members.add(schedule.placement().rankOf(stage));
      }
    }
    assertEquals(members.size(), meeting.size(), () -> "not all take part in " + op);
    for (Place place : meeting) {
      start = latest(start, reached(place.rank(), place.position()));
    }
    return start;
  }

  private double reached(int rank, int at) {
    double reached = 0;
    for (int i = 0; i < at; i++) {
      reached = latest(reached, ends[rank][i]);
    }
    return reached;
  }

  /** The op behind which the turn before a hand-on's is over. */
  public Place release(Op handOn) {
    return user(requireNonNull(turns.get(key(handOn, handOn.microBatch() - 1))));
  }

  /** The op that uses what a hand-on takes over. */
  public Place user(Place handOn) {
    List<Op> program = programs.get(handOn.rank());
    for (int i = handOn.position() + 1; i < program.size(); i++) {
      Op op = program.get(i);
      boolean same = op.stage() == program.get(handOn.position()).stage();
      if (same && compute(op) && op.pass() != Pass.RECOMPUTE) {
        return new Place(handOn.rank(), i);
      }
    }
    throw new AssertionError("nothing uses what is taken over by " + op(handOn));
  }

  private double ended(Pass pass, int stage, int microBatch) {
    return at(ends, requireNonNull(places.get(new Op(pass, stage, microBatch))));
  }

  private static double latest(double a, double b) {
    return Double.isNaN(a) || Double.isNaN(b) ? Double.NaN : Math.max(a, b);
  }

  private static double at(double[][] times, Place place) {
    return times[place.rank()][place.position()];
  }

  public Op op(Place place) {
    return programs.get(place.rank()).get(place.position());
  }

  public double start(Place place) {
    return at(starts, place);
  }

  public double end(Place place) {
    return at(ends, place);
  }

  public double start(Pass pass, int stage, int microBatch) {
    return start(requireNonNull(places.get(new Op(pass, stage, microBatch))));
  }

  /** Fails unless the simulator runs every op at the same time. */
  public static void assertSimulated(Schedule schedule, OpTimes times) {
    ExchangeExecution execution =
        new ExchangeExecution(
            schedule, op -> times.seconds(Schedule.pack(op.pass(), op.stage(), op.microBatch())));
    Run run = StaticSimulator.run(schedule, times);
    for (Place place : execution.order()) {
      assertEquals(
          execution.start(place),
          run.start(place.rank(), place.position()),
          1e-9,
          () -> schedule.name() + ": " + place + " " + execution.op(place));
    }
    assertEquals(execution.makespan(), run.makespan(), 1e-9);
  }

  /** Random times of everything but transfers; the same for all chains' copies of a stage. */
  public static OpTimes randomTimes(SplittableRandom random, Placement placement) {
    double[][] times = new double[7][placement.stages()];
    for (double[] each : times) {
      double[] stages = random.doubles(placement.depth()).toArray();
      Arrays.setAll(each, stage -> stages[stage % placement.depth()]);
    }
    return OpTimes.of(times[0], times[1], times[2], 0)
        .withStep(new StepTimes(times[3], times[4], times[5], times[6]));
  }

  public double makespan() {
    return order.stream().mapToDouble(this::end).max().orElse(0);
  }

  /** All ops, none before one that it waits for. */
  public List<Place> order() {
    return order;
  }
}
