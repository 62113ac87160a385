package dev.pipewright.sim.memory;

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
 * Schedules that can run, in any order that chance takes among the ops that are ready: backward
 * passes whole or in halves, some micro-batches recomputed, updates at any time.
 */
final class RandomPrograms {
  private RandomPrograms() {}

  static Placement placement(SplittableRandom random) {
    int ranks = random.nextInt(1, 5);
    return switch (random.nextInt(5)) {
      case 0 -> Placement.straight(ranks);
      case 1 -> Placement.looped(ranks, random.nextInt(1, 4));
      case 2 -> Placement.waves(ranks, random.nextInt(1, 4));
      case 3 -> Placement.bothWays(ranks);
      default -> {
        int chains = random.nextInt(1, 4);
        int depth = random.nextInt(1, 4);
        int[] rankOf = new int[chains * depth]; // several of the same stage on a rank, too
        Arrays.setAll(rankOf, stage -> random.nextInt(ranks));
        yield Placement.of(ranks, chains, rankOf);
      }
    };
  }

  static Schedule schedule(
      SplittableRandom random, Placement placement, int microBatches, boolean plain) {
    List<Op> waiting = new ArrayList<>();
    for (int stage = 0; stage < placement.stages(); stage++) {
      for (int i = 0; i < microBatches; i++) {
        waiting.addAll(work(random, stage, i, plain));
      }
      for (int i = plain ? 0 : random.nextInt(4); i > 0; i--) {
        waiting.add(new Op(Pass.UPDATE, stage, i));
      }
    }
    Program[] programs = new Program[placement.ranks()];
    Arrays.setAll(programs, rank -> new Program());
    Set<Op> all = Set.copyOf(waiting);
    Set<Op> done = new HashSet<>();
    while (!waiting.isEmpty()) {
      Op op = waiting.get(random.nextInt(waiting.size()));
      if (ready(op, placement, all, done)) {
        waiting.remove(op);
        done.add(op);
        programs[placement.rankOf(op.stage())].add(op.pass(), op.stage(), op.microBatch());
      }
    }
    long[][] packed = Arrays.stream(programs).map(Program::packed).toArray(long[][]::new);
    return new Schedule("random", placement, microBatches, packed);
  }

  private static List<Op> work(SplittableRandom random, int stage, int i, boolean plain) {
    List<Op> work = new ArrayList<>(List.of(new Op(Pass.FORWARD, stage, i)));
    if (!plain && random.nextInt(3) == 0) {
      work.add(new Op(Pass.RECOMPUTE, stage, i));
    }
    if (random.nextBoolean()) {
      work.add(new Op(Pass.BACKWARD, stage, i));
    } else {
      work.add(new Op(Pass.BACKWARD_INPUT, stage, i));
      work.add(new Op(Pass.BACKWARD_WEIGHT, stage, i));
    }
    return work;
  }

  private static boolean ready(Op op, Placement placement, Set<Op> all, Set<Op> done) {
    int stage = op.stage();
    int i = op.microBatch();
    boolean forward = done.contains(new Op(Pass.FORWARD, stage, i));
    Op again = new Op(Pass.RECOMPUTE, stage, i);
    return switch (op.pass()) {
      case FORWARD -> placement.first(stage) || done.contains(new Op(Pass.FORWARD, stage - 1, i));
      case BACKWARD, BACKWARD_INPUT ->
          forward
              && (!all.contains(again) || done.contains(again))
              && (placement.last(stage)
                  || done.contains(new Op(Pass.BACKWARD, stage + 1, i))
                  || done.contains(new Op(Pass.BACKWARD_INPUT, stage + 1, i)));
      case BACKWARD_WEIGHT -> done.contains(new Op(Pass.BACKWARD_INPUT, stage, i));
      case RECOMPUTE -> forward;
      case UPDATE -> true;
      case REDUCE, GATHER, HAND_ON -> throw new IllegalStateException("not made here: " + op);
    };
  }
}
