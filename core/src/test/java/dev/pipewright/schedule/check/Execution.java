package dev.pipewright.schedule.check;

import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The referee of the validator: what ends when every rule is applied, as it is worded, over and
 * over until nothing changes; and what is there how often. Slow.
 */
public final class Execution {
  /** An op of a program. */
  public record At(int rank, int position, Op op) {}

  private final Schedule schedule;
  private final Placement placement;
  private final List<List<At>> ranks = new ArrayList<>();
  private final List<At> all;
  private final Map<Op, List<At>> places = new HashMap<>();
  private final Map<At, List<At>> together = new HashMap<>(); // as far as asked for
  private final Map<At, List<List<At>>> needs = new HashMap<>(); // as far as asked for
  private final Set<At> ended = new LinkedHashSet<>();

  public Execution(Schedule schedule) {
    this.schedule = schedule;
    this.placement = schedule.placement();
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      List<At> ops = new ArrayList<>();
      for (Op op : schedule.program(rank)) {
        ops.add(new At(rank, ops.size(), op));
      }
      ranks.add(ops);
    }
    all = ranks.stream().flatMap(List::stream).toList();
    for (At at : all) {
      places.computeIfAbsent(at.op(), op -> new ArrayList<>()).add(at);
    }
  }

  /** Whether all work is there once, in its place, and comes to an end. */
  public boolean runs() {
    return complete() && sensible() && ends();
  }

  /** What has ended, nothing before what it waits for. */
  public List<At> order() {
    return List.copyOf(ended);
  }

  boolean ended(int rank, int position) {
    return ended.contains(ranks.get(rank).get(position));
  }

  private boolean complete() {
    Map<Op, Integer> count = new HashMap<>();
    Map<List<Object>, Integer> members = new HashMap<>();
    Map<List<Integer>, Integer> turns = new HashMap<>();
    for (At at : all) {
      Op op = at.op();
      if (op.stage() >= placement.stages() || placement.rankOf(op.stage()) != at.rank()) {
        return false;
      }
      int stage = op.stage() % placement.depth();
      switch (op.pass()) {
        case REDUCE, GATHER ->
            members.merge(List.of(op.pass(), stage, op.microBatch(), at.rank()), 1, Integer::sum);
        case HAND_ON -> turns.merge(List.of(stage, op.microBatch()), 1, Integer::sum);
        default -> count.merge(op, 1, Integer::sum);
      }
    }
    for (int stage = 0; stage < placement.stages(); stage++) {
      for (int i = 0; i < schedule.microBatches(); i++) {
        int whole = count.getOrDefault(new Op(Pass.BACKWARD, stage, i), 0);
        int input = count.getOrDefault(new Op(Pass.BACKWARD_INPUT, stage, i), 0);
        int weight = count.getOrDefault(new Op(Pass.BACKWARD_WEIGHT, stage, i), 0);
        boolean once = count.getOrDefault(new Op(Pass.FORWARD, stage, i), 0) == 1;
        if (!once || whole + input != 1 || input != weight) {
          return false;
        }
      }
    }
    boolean beyond =
        count.keySet().stream()
            .anyMatch(op -> op.pass() != Pass.UPDATE && op.microBatch() >= schedule.microBatches());
    boolean twice =
        count.values().stream().anyMatch(n -> n > 1)
            || members.values().stream().anyMatch(n -> n > 1)
            || turns.values().stream().anyMatch(n -> n > 1);
    boolean gap =
        turns.keySet().stream()
            .anyMatch(turn ->
                turn.get(1) > 0 && !turns.containsKey(List.of(turn.get(0), turn.get(1) - 1)));
    boolean alone =
        members.keySet().stream()
            .anyMatch(member ->
                holders((int) member.get(1)).stream()
                    .anyMatch(rank ->
                        !members.containsKey(
                            List.of(member.get(0), member.get(1), member.get(2), rank))));
    return !beyond && !twice && !gap && !alone;
  }

  private Set<Integer> holders(int inChain) {
    Set<Integer> holders = new HashSet<>();
    for (int stage = inChain; stage < placement.stages(); stage += placement.depth()) {
      holders.add(placement.rankOf(stage));
    }
    return holders;
  }

  /** Nothing is recomputed behind its backward pass, no exchange runs together with anything. */
  private boolean sensible() {
    for (List<At> rank : ranks) {
      long[] program = rank.isEmpty() ? new long[0] : schedule.packed(rank.get(0).rank());
      Set<Op> before = new HashSet<>();
      for (int i = 0; i < program.length; i++) {
        Op op = rank.get(i).op();
        boolean late =
            op.pass() == Pass.RECOMPUTE
                && (before.contains(new Op(Pass.BACKWARD, op.stage(), op.microBatch()))
                    || before.contains(new Op(Pass.BACKWARD_INPUT, op.stage(), op.microBatch())));
        boolean mixed =
            i + 1 < program.length
                && Schedule.isJoined(program[i])
                && (op.pass().exchanges() || rank.get(i + 1).op().pass().exchanges());
        if (late || mixed) {
          return false;
        }
        before.add(op);
      }
    }
    return true;
  }

  private boolean ends() {
    int before = -1;
    while (ended.size() > before) {
      before = ended.size();
      for (At at : all) {
        if (!ended.contains(at) && together(at).stream().allMatch(this::canStart)) {
          ended.addAll(together(at));
        }
      }
    }
    return ended.size() == all.size();
  }

  /** What starts and ends with an op: those joined with it, or the collective operation. */
  public List<At> together(At at) {
    return together.computeIfAbsent(at, this::findTogether);
  }

  private List<At> findTogether(At at) {
    Pass pass = at.op().pass();
    if (pass == Pass.REDUCE || pass == Pass.GATHER) {
      return all.stream()
          .filter(o ->
              o.op().pass() == pass
                  && o.op().microBatch() == at.op().microBatch()
                  && o.op().stage() % placement.depth() == at.op().stage() % placement.depth())
          .toList();
    }
    List<At> rank = ranks.get(at.rank());
    long[] program = schedule.packed(at.rank());
    int first = at.position();
    int last = at.position();
    while (first > 0 && Schedule.isJoined(program[first - 1])) {
      first--;
    }
    while (last < program.length - 1 && Schedule.isJoined(program[last])) {
      last++;
    }
    return rank.subList(first, last + 1);
  }

  private boolean canStart(At at) {
    return needs(at).stream().allMatch(some -> some.stream().anyMatch(ended::contains));
  }

  /** What has to have ended before an op starts: of each entry one. */
  public List<List<At>> needs(At at) {
    return needs.computeIfAbsent(at, this::findNeeds);
  }

  private List<List<At>> findNeeds(At at) {
    List<List<At>> needs = new ArrayList<>();
    List<At> mates = together(at);
    for (At before : ranks.get(at.rank()).subList(0, at.position()).reversed()) {
      boolean stream = !before.op().pass().exchanges() && !mates.contains(before);
      boolean ofStage = before.op().stage() == at.op().stage();
      if (at.op().pass().exchanges() || stream || (before.op().pass().exchanges() && ofStage)) {
        needs.add(List.of(before));
      }
    }
    for (List<Op> inputs : inputs(at.op(), placement)) {
      needs.add(
          inputs.stream().flatMap(op -> places.getOrDefault(op, List.of()).stream()).toList());
    }
    if (at.op().pass() == Pass.HAND_ON && at.op().microBatch() > 0) {
      needs.add(user(turnBefore(at)));
    }
    return needs;
  }

  /** The turn before a hand-on's. */
  public At turnBefore(At gradientPass) {
    Op op = gradientPass.op();
    return all.stream()
        .filter(o ->
            o.op().pass() == Pass.HAND_ON
                && o.op().microBatch() == op.microBatch() - 1
                && o.op().stage() % placement.depth() == op.stage() % placement.depth())
        .findFirst()
        .orElseThrow();
  }

  /** The op that uses what a hand-on takes over, if any. */
  public List<At> user(At gradientPass) {
    return ranks.get(gradientPass.rank()).stream()
        .filter(o ->
            o.position() > gradientPass.position()
                && o.op().stage() == gradientPass.op().stage()
                && o.op().pass().endsTurn())
        .limit(1)
        .toList();
  }

  /** The outputs that an op computes on: of each entry one. */
  public static List<List<Op>> inputs(Op op, Placement placement) {
    int stage = op.stage();
    int i = op.microBatch();
    List<List<Op>> inputs = new ArrayList<>();
    switch (op.pass()) {
      case FORWARD -> {
        if (!placement.first(stage)) {
          inputs.add(List.of(new Op(Pass.FORWARD, stage - 1, i)));
        }
      }
      case BACKWARD, BACKWARD_INPUT -> {
        inputs.add(List.of(new Op(Pass.FORWARD, stage, i)));
        if (!placement.last(stage)) {
          inputs.add(
              List.of(
                  new Op(Pass.BACKWARD, stage + 1, i), new Op(Pass.BACKWARD_INPUT, stage + 1, i)));
        }
      }
      case BACKWARD_WEIGHT -> inputs.add(List.of(new Op(Pass.BACKWARD_INPUT, stage, i)));
      case RECOMPUTE -> inputs.add(List.of(new Op(Pass.FORWARD, stage, i)));
      case UPDATE, REDUCE, GATHER, HAND_ON -> {}
    }
    return inputs;
  }

  At at(Validator.Place place) {
    return ranks.get(place.rank()).get(place.position());
  }
}
