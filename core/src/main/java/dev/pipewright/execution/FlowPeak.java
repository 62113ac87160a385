package dev.pipewright.execution;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.Flow;
import dev.pipewright.plan.HandOns;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/**
 * The most bytes that a worker of a rank holds while steps flow, op by op, where the profile says
 * what layers need while they compute: the newest parameters and what the update rule remembers;
 * older versions as long as a micro-batch needs them; a sum of gradients for each update that is
 * under way; what micro-batches in flight keep; what the op under way needs beyond that; and room
 * for messages that are about to come.
 */
final class FlowPeak {
  private final StageCosts costs;
  private final Assignment all;
  private final Flow flow;
  private final Placement placement;
  private final int rank;
  private final long[] program;
  private final int slice;
  private final Map<Integer, StageNeeds> needs = new HashMap<>(); // by stage
  private final Map<Integer, Held> held = new HashMap<>(); // by stage of a chain
  private double now;
  private double peak;
  private double leaving; // sums that others have not asked for yet

  /** A stage of a chain. */
  private static final class Held {
    private final int depth;
    private final double bytes; // of its parameters
    private final HandOns handOns;
    private final Deque<Integer> unfinished = new ArrayDeque<>(); // micro-batches
    private final TreeSet<Integer> versions = new TreeSet<>(Set.of(0));
    private final Set<Integer> sums = new HashSet<>(); // updates
    private final Map<Integer, Integer> lastUse = new HashMap<>(); // positions, by update
    private final Set<Integer> goes = new HashSet<>(); // updates whose sums others get last
    private List<Integer> coming = List.of(); // updates whose sums have been asked for

    private Held(int depth, double bytes, HandOns handOns) {
      this.depth = depth;
      this.bytes = bytes;
      this.handOns = handOns;
    }
  }

  /**
   * @param all steps enough to fill all stages
   * @param slice samples of a micro-batch that the worker computes
   */
  FlowPeak(StageCosts costs, Assignment all, int rank, int slice) {
    this.costs = costs;
    this.all = all;
    this.flow = all.flow().orElseThrow();
    this.placement = all.schedule().placement();
    this.rank = rank;
    this.program = all.schedule().packed(rank);
    this.slice = slice;
    for (int stage = 0; stage < placement.stages(); stage++) {
      if (placement.rankOf(stage) == rank) {
        needs.put(stage, needs(stage));
        held.computeIfAbsent(stage % placement.depth(), this::begun);
      }
    }
    for (int at = 0; at < program.length; at++) {
      note(program[at], at);
    }
    peak = now;
  }

  private StageNeeds needs(int stage) {
    boolean fromElsewhere = !placement.first(stage) && placement.rankOf(stage - 1) != rank;
    return new StageNeeds(
        costs, layers(stage), slice, false, fromElsewhere, placement.last(stage), 0);
  }

  private Held begun(int depth) {
    LayerRange range = layers(depth).range();
    double bytes = costs.parameterBytes()[range.last() + 1] - costs.parameterBytes()[range.first()];
    now += costs.staticBytes(range.first(), range.last() + 1) - bytes; // gradients lie in sums
    return new Held(depth, bytes, HandOns.of(all, depth));
  }

  private StageLayers layers(int stage) {
    return all.stages().get(stage % placement.depth());
  }

  private Held held(long op) {
    return Objects.requireNonNull(held.get(Schedule.stage(op) % placement.depth()));
  }

  private int depth(long op) {
    return Schedule.stage(op) % placement.depth();
  }

  private int microBatch(long op) {
    return all.inFlow(Schedule.stage(op), Schedule.microBatch(op));
  }

  private int update(long op) {
    return microBatch(op) / flow.perUpdate(depth(op));
  }

  /** Sums are needed until the last op that adds to them, reads them or hands them on. */
  private void note(long op, int at) {
    Held own = held(op);
    if (Schedule.pass(op) == Pass.BACKWARD) {
      own.unfinished.add(microBatch(op));
      own.lastUse.put(update(op), at);
      own.goes.remove(update(op));
    } else if (Schedule.pass(op) == Pass.UPDATE) {
      own.lastUse.put(Schedule.microBatch(op), at);
      own.goes.remove(Schedule.microBatch(op));
    }
    own.handOns
        .over(rank, at)
        .ifPresent(turn -> {
          if (turn + 1 < own.handOns.size() && own.handOns.comes(turn + 1)) {
            for (int update : own.handOns.carried(turn + 1)) {
              own.lastUse.put(update, at);
              own.goes.add(update);
            }
          }
        });
  }

  double bytes() {
    for (int at = 0; at < program.length; at++) {
      run(program[at], expected(at));
      if (Schedule.pass(program[at]) != Pass.HAND_ON) {
        now -= leaving; // while the next pass runs, who gets it asks for it
        leaving = 0;
      }
      forget(program[at], at);
    }
    return peak;
  }

  /** Room for messages that ops behind this one will take. */
  private double expected(int position) {
    double bytes = 0;
    int end = Math.min(program.length, position + Expectation.OPS_AHEAD);
    for (long op : Arrays.copyOfRange(program, position + 1, Math.max(position + 1, end))) {
      int stage = Schedule.stage(op);
      LayerRange range = layers(stage).range();
      boolean before = !placement.first(stage) && placement.rankOf(stage - 1) != rank;
      boolean behind = !placement.last(stage) && placement.rankOf(stage + 1) != rank;
      if (Schedule.pass(op) == Pass.FORWARD && before) {
        bytes += costs.inputBytes(range.first(), slice);
      } else if (Schedule.pass(op) == Pass.BACKWARD && behind) {
        bytes += costs.inputBytes(range.last() + 1, slice);
      }
    }
    return bytes;
  }

  private void run(long op, double beside) {
    Held own = held(op);
    if (Schedule.pass(op) == Pass.HAND_ON) {
      int turn = Schedule.microBatch(op);
      own.coming = own.handOns.comes(turn) ? own.handOns.carried(turn) : List.of();
      now += own.coming.size() * own.bytes;
      reach(beside);
      return;
    }
    arrive(own);
    switch (Schedule.pass(op)) {
      case FORWARD -> {
        StageNeeds stage = Objects.requireNonNull(needs.get(Schedule.stage(op)));
        now += stage.held();
        reach(beside + stage.forward());
        now += stage.lossGradient();
      }
      case BACKWARD -> backward(op, own, beside);
      case UPDATE -> update(own);
      case REDUCE -> reach(beside);
      case BACKWARD_INPUT, BACKWARD_WEIGHT, RECOMPUTE, GATHER, HAND_ON ->
          throw new IllegalStateException("steps that flow have no op " + Schedule.pass(op));
    }
  }

  /** What has come is added to one's own, or becomes it. */
  private void arrive(Held own) {
    for (int update : own.coming) {
      now -= own.sums.add(update) ? 0 : own.bytes;
    }
    own.coming = List.of();
  }

  private void backward(long op, Held own, double beside) {
    StageNeeds stage = Objects.requireNonNull(needs.get(Schedule.stage(op)));
    now += own.sums.add(update(op)) ? own.bytes : 0;
    now -= stage.lossGradient();
    now += stage.recomputed();
    reach(beside + stage.backward(false, false));
    now -= stage.held() + stage.recomputed();
    own.unfinished.removeFirst();
  }

  /** As the runtime does: the newest version is changed in place where nobody needs it. */
  private void update(Held own) {
    int newest = own.versions.last();
    int oldest =
        own.unfinished.isEmpty()
            ? Integer.MAX_VALUE
            : flow.version(own.depth, own.unfinished.getFirst());
    List<Integer> spent = new ArrayList<>(own.versions.headSet(Math.min(oldest, newest)));
    own.versions.removeAll(spent);
    now -= spent.size() * own.bytes;
    if (oldest <= newest) {
      now += own.bytes;
    } else {
      own.versions.remove(newest);
    }
    own.versions.add(newest + 1);
    reach(0);
  }

  private void forget(long op, int at) {
    Held own = held(op);
    for (int update : List.copyOf(own.sums)) {
      if (own.lastUse.getOrDefault(update, 0) <= at) {
        own.sums.remove(update);
        now -= own.goes.contains(update) ? 0 : own.bytes;
        leaving += own.goes.contains(update) ? own.bytes : 0;
      }
    }
  }

  private void reach(double beyond) {
    peak = Math.max(peak, now + beyond);
  }
}
