package dev.pipewright.schedule.check;

import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Program;
import dev.pipewright.schedule.Schedule;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Schedules that can run, with everything that there is: written down while chance runs them, op by
 * op among those that are ready.
 */
final class RandomPrograms {
  private final SplittableRandom random;
  private final Placement placement;
  private final int microBatches;
  private final Program[] programs;
  private final List<Op> waiting = new ArrayList<>();
  private final Set<Op> done = new HashSet<>();
  private final int[] numbers = new int[3]; // of the next update, reduction and gathering
  private final int[] turn; // by stage of a chain: the next
  private final int[] lent; // by stage of a chain: the stage that was handed on and not used yet

  private RandomPrograms(SplittableRandom random) {
    this.random = random;
    this.placement = placement(random);
    this.microBatches = random.nextInt(1, 4);
    programs = new Program[placement.ranks()];
    Arrays.setAll(programs, rank -> new Program());
    turn = new int[placement.depth()];
    lent = new int[placement.depth()];
    Arrays.fill(lent, -1);
  }

  static Schedule of(SplittableRandom random) {
    return new RandomPrograms(random).schedule();
  }

  private static Placement placement(SplittableRandom random) {
    int ranks = random.nextInt(1, 5);
    return switch (random.nextInt(5)) {
      case 0 -> Placement.straight(ranks);
      case 1 -> Placement.looped(ranks, random.nextInt(1, 4));
      case 2 -> Placement.waves(ranks, random.nextInt(1, 4));
      case 3 -> Placement.bothWays(ranks);
      default -> {
        int chains = random.nextInt(1, 4);
        int depth = random.nextInt(1, 4);
        yield Placement.of(ranks, chains, random.ints((long) chains * depth, 0, ranks).toArray());
      }
    };
  }

  private Schedule schedule() {
    for (int stage = 0; stage < placement.stages(); stage++) {
      for (int i = 0; i < microBatches; i++) {
        waiting.add(new Op(Pass.FORWARD, stage, i));
        if (random.nextBoolean()) {
          waiting.add(new Op(Pass.BACKWARD, stage, i));
        } else {
          waiting.add(new Op(Pass.BACKWARD_INPUT, stage, i));
          waiting.add(new Op(Pass.BACKWARD_WEIGHT, stage, i));
        }
      }
    }
    boolean exchanges = random.nextInt(3) > 0;
    while (!waiting.isEmpty()) {
      switch (exchanges ? random.nextInt(12) : 11) {
        case 0 -> collective(Pass.REDUCE);
        case 1 -> collective(Pass.GATHER);
        case 2, 3 -> handOn();
        case 4 -> compute(new Op(Pass.UPDATE, random.nextInt(placement.stages()), numbers[0]++));
        default -> step();
      }
    }
    long[][] packed = Arrays.stream(programs).map(Program::packed).toArray(long[][]::new);
    return new Schedule("random", placement, microBatches, packed);
  }

  private void step() {
    List<Op> ready = waiting.stream().filter(this::ready).toList();
    Op op = ready.get(random.nextInt(ready.size()));
    int rank = placement.rankOf(op.stage());
    List<Op> mates =
        ready.stream().filter(o -> !o.equals(op) && placement.rankOf(o.stage()) == rank).toList();
    if (!mates.isEmpty() && random.nextInt(4) == 0) {
      Op mate = mates.get(random.nextInt(mates.size()));
      add(op);
      programs[rank].join();
      add(mate);
      end(op);
      end(mate);
      return;
    }
    boolean again =
        op.pass().propagates()
            && done.contains(new Op(Pass.FORWARD, op.stage(), op.microBatch()))
            && random.nextInt(4) == 0;
    if (again) {
      compute(new Op(Pass.RECOMPUTE, op.stage(), op.microBatch()));
    }
    compute(op);
  }

  private boolean ready(Op op) {
    return Execution.inputs(op, placement).stream()
        .allMatch(some -> some.stream().anyMatch(done::contains));
  }

  private void compute(Op op) {
    add(op);
    end(op);
  }

  private void add(Op op) {
    waiting.remove(op);
    programs[placement.rankOf(op.stage())].add(op.pass(), op.stage(), op.microBatch());
  }

  private void end(Op op) {
    done.add(op);
    int inChain = op.stage() % placement.depth();
    if (lent[inChain] == op.stage()) {
      lent[inChain] = -1;
    }
  }

  /** Some stage of each rank that holds it. */
  private void collective(Pass pass) {
    int inChain = random.nextInt(placement.depth());
    int number = numbers[pass == Pass.REDUCE ? 1 : 2]++;
    for (int rank = 0; rank < placement.ranks(); rank++) {
      List<Integer> own = own(inChain, rank);
      if (!own.isEmpty()) {
        programs[rank].add(pass, own.get(random.nextInt(own.size())), number);
      }
    }
  }

  private List<Integer> own(int inChain, int rank) {
    List<Integer> own = new ArrayList<>();
    for (int stage = inChain; stage < placement.stages(); stage += placement.depth()) {
      if (placement.rankOf(stage) == rank) {
        own.add(stage);
      }
    }
    return own;
  }

  private void handOn() {
    int stage = random.nextInt(placement.stages());
    int inChain = stage % placement.depth();
    if (lent[inChain] < 0) {
      programs[placement.rankOf(stage)].add(Pass.HAND_ON, stage, turn[inChain]++);
      lent[inChain] = stage;
    }
  }
}
