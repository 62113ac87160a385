package dev.pipewright.sim;

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

/** Schedules that can run, in any order that chance takes among the ops that are ready. */
final class RandomOrders {
  private RandomOrders() {}

  static Placement placement(SplittableRandom random) {
    int ranks = random.nextInt(1, 5);
    return switch (random.nextInt(4)) {
      case 0 -> Placement.straight(ranks);
      case 1 -> Placement.looped(ranks, random.nextInt(1, 4));
      case 2 -> Placement.waves(ranks, random.nextInt(1, 4));
      default -> Placement.bothWays(ranks);
    };
  }

  /** Each backward pass is whole or in two halves, as chance has it. */
  static Schedule schedule(SplittableRandom random, Placement placement, int microBatches) {
    List<Op> waiting = new ArrayList<>();
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
    Program[] programs = new Program[placement.ranks()];
    Arrays.setAll(programs, rank -> new Program());
    Set<Op> done = new HashSet<>();
    while (!waiting.isEmpty()) {
      Op op = waiting.get(random.nextInt(waiting.size()));
      if (needs(op, placement).stream().allMatch(some -> anyOf(some, done))) {
        waiting.remove(op);
        done.add(op);
        programs[placement.rankOf(op.stage())].add(op.pass(), op.stage(), op.microBatch());
      }
    }
    long[][] packed = Arrays.stream(programs).map(Program::packed).toArray(long[][]::new);
    return new Schedule("random", placement, microBatches, packed);
  }

  private static boolean anyOf(List<Op> ops, Set<Op> done) {
    return ops.stream().anyMatch(done::contains);
  }

  /** What has to be done before: of each entry one. */
  static List<List<Op>> needs(Op op, Placement placement) {
    int stage = op.stage();
    int i = op.microBatch();
    List<List<Op>> needs = new ArrayList<>();
    switch (op.pass()) {
      case FORWARD -> {
        if (!placement.first(stage)) {
          needs.add(List.of(new Op(Pass.FORWARD, stage - 1, i)));
        }
      }
      case BACKWARD, BACKWARD_INPUT -> {
        needs.add(List.of(new Op(Pass.FORWARD, stage, i)));
        if (!placement.last(stage)) {
          needs.add(
              List.of(
                  new Op(Pass.BACKWARD, stage + 1, i), new Op(Pass.BACKWARD_INPUT, stage + 1, i)));
        }
      }
      case BACKWARD_WEIGHT -> needs.add(List.of(new Op(Pass.BACKWARD_INPUT, stage, i)));
      case RECOMPUTE -> needs.add(List.of(new Op(Pass.FORWARD, stage, i)));
      case UPDATE, REDUCE, GATHER, HAND_ON -> {}
    }
    return needs;
  }
}
