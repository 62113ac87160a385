package dev.pipewright.schedule.check;

import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator.Place;
import dev.pipewright.schedule.check.Validator.Problem;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Whether all work is there, once, and on the rank that it belongs to. */
final class Coverage {
  private final Schedule schedule;
  private final Placement placement;
  private final int microBatches;
  private final int most;
  private final List<Problem> problems = new ArrayList<>();
  private final Map<Pass, BitSet> seen; // by stage and micro-batch
  private final KeyNumbers updates = new KeyNumbers();
  private final KeyNumbers meetings = new KeyNumbers(); // collective operations
  private final KeyNumbers members = new KeyNumbers(); // by meeting and rank
  private final KeyNumbers turns = new KeyNumbers(); // by turn and stage of a chain
  private final int[] turnCount; // by stage of a chain
  private final int[] lastTurn;

  private Coverage(Schedule schedule, int most) {
    this.schedule = schedule;
    this.placement = schedule.placement();
    this.microBatches = schedule.microBatches();
    this.most = most;
    seen = new EnumMap<>(Pass.class);
    for (Pass pass : Pass.values()) {
      seen.put(pass, new BitSet());
    }
    turnCount = new int[placement.depth()];
    lastTurn = new int[placement.depth()];
  }

  static List<Problem> problems(Schedule schedule, int most) {
    Coverage coverage = new Coverage(schedule, most);
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      for (int i = 0; i < schedule.packed(rank).length && !coverage.full(); i++) {
        coverage.count(rank, i);
      }
    }
    coverage.missing();
    coverage.absent();
    coverage.gaps();
    return coverage.problems;
  }

  private boolean full() {
    return problems.size() >= most;
  }

  private void add(Problem problem) {
    if (!full()) {
      problems.add(problem);
    }
  }

  private void count(int rank, int position) {
    long op = schedule.packed(rank)[position];
    Pass pass = Schedule.pass(op);
    int number = Schedule.microBatch(op);
    boolean foreign =
        Schedule.stage(op) >= placement.stages()
            || placement.rankOf(Schedule.stage(op)) != rank
            || number < 0
            || (ofMicroBatch(pass) && number >= microBatches);
    if (foreign) {
      add(new Problem.Foreign(Place.of(schedule, rank, position)));
    } else if (!first(op, rank)) {
      add(new Problem.Duplicate(Place.of(schedule, rank, position)));
    }
  }

  /** Whether an op is met for the first time, in this form or another. */
  private boolean first(long op, int rank) {
    int stage = Schedule.stage(op);
    int number = Schedule.microBatch(op);
    int place = stage * microBatches + (ofMicroBatch(Schedule.pass(op)) ? number : 0);
    return switch (Schedule.pass(op)) {
      case FORWARD, RECOMPUTE -> set(Schedule.pass(op), place);
      case BACKWARD ->
          set(Pass.BACKWARD, place)
              && !seen(Pass.BACKWARD_INPUT).get(place)
              && !seen(Pass.BACKWARD_WEIGHT).get(place);
      case BACKWARD_INPUT, BACKWARD_WEIGHT ->
          set(Schedule.pass(op), place) && !seen(Pass.BACKWARD).get(place);
      case UPDATE -> isNew(updates, Needs.key(Pass.UPDATE, number, stage, placement.stages()));
      case REDUCE, GATHER -> {
        int inChain = stage % placement.depth();
        int meeting = meetings.of(Needs.key(Schedule.pass(op), number, inChain, placement.depth()));
        yield isNew(members, member(meeting, rank));
      }
      case HAND_ON -> turn(stage % placement.depth(), number);
    };
  }

  private static boolean isNew(KeyNumbers numbering, long key) {
    int size = numbering.size();
    return numbering.of(key) == size;
  }

  private long member(int meeting, int rank) {
    return (long) meeting * schedule.ranks() + rank;
  }

  private boolean turn(int stage, int number) {
    turnCount[stage]++;
    lastTurn[stage] = Math.max(lastTurn[stage], number);
    return isNew(turns, turnKey(number, stage));
  }

  private long turnKey(long number, int stage) {
    return number * placement.depth() + stage;
  }

  /** Whether ops are counted by micro-batch: there are so many and no more. */
  private static boolean ofMicroBatch(Pass pass) {
    return pass != Pass.UPDATE && !pass.exchanges();
  }

  private BitSet seen(Pass pass) {
    return seen.getOrDefault(pass, new BitSet());
  }

  private boolean set(Pass pass, int place) {
    BitSet places = seen(pass);
    boolean there = places.get(place);
    places.set(place);
    return !there;
  }

  /** What no op does of a stage's work on a micro-batch. */
  private void missing() {
    BitSet forward = seen(Pass.FORWARD);
    BitSet whole = seen(Pass.BACKWARD);
    BitSet input = seen(Pass.BACKWARD_INPUT);
    BitSet weight = seen(Pass.BACKWARD_WEIGHT);
    for (int place = 0; place < schedule.stages() * microBatches && !full(); place++) {
      if (!forward.get(place)) {
        missing(Pass.FORWARD, place);
      }
      if (input.get(place) != weight.get(place)) {
        missing(input.get(place) ? Pass.BACKWARD_WEIGHT : Pass.BACKWARD_INPUT, place);
      } else if (!input.get(place) && !whole.get(place)) {
        missing(Pass.BACKWARD, place);
      }
    }
  }

  private void missing(Pass pass, int place) {
    Op op = new Op(pass, place / microBatches, place % microBatches);
    add(new Problem.Missing(Place.of(schedule, op)));
  }

  private void absent() {
    if (meetings.size() == 0) {
      return;
    }
    BitSet[] holders = new BitSet[placement.depth()];
    Arrays.setAll(holders, stage -> new BitSet());
    for (int stage = 0; stage < placement.stages(); stage++) {
      holders[stage % placement.depth()].set(placement.rankOf(stage));
    }
    for (int meeting = 0; meeting < meetings.size() && !full(); meeting++) {
      Op op = Needs.op(meetings.key(meeting), placement.depth());
      BitSet ranks = holders[op.stage()];
      for (int rank = ranks.nextSetBit(0); rank >= 0; rank = ranks.nextSetBit(rank + 1)) {
        if (members.find(member(meeting, rank)) < 0) {
          add(new Problem.Absent(place(op, rank), present(meeting, ranks)));
        }
      }
    }
  }

  private int present(int meeting, BitSet ranks) {
    return ranks.stream()
        .filter(rank -> members.find(member(meeting, rank)) >= 0)
        .findFirst()
        .orElseThrow();
  }

  /** An op of a stage of some chain, of one that the rank has. */
  private Place place(Op op, int rank) {
    int stage = op.stage();
    while (placement.rankOf(stage) != rank) {
      stage += placement.depth();
    }
    return Place.of(schedule, new Op(op.pass(), stage, op.microBatch()));
  }

  /** Turns are counted from 0 without a gap. */
  private void gaps() {
    for (int stage = 0; stage < turnCount.length; stage++) {
      if (turnCount[stage] > 0 && turnCount[stage] <= lastTurn[stage]) {
        int turn = 0;
        while (turns.find(turnKey(turn, stage)) >= 0) {
          turn++;
        }
        if (turn < lastTurn[stage]) {
          add(new Problem.Missing(Place.of(schedule, new Op(Pass.HAND_ON, stage, turn))));
        }
      }
    }
  }
}
