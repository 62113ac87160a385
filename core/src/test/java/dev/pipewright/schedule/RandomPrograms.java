package dev.pipewright.schedule;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.check.Execution;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Schedules that can run: written down while chance runs them, op by op among those that are ready.
 * Each backward pass is whole or in halves.
 */
public final class RandomPrograms {
  /** What a schedule has beside its passes. */
  public enum Part {
    /** A third of the micro-batches, on each stage, run forward again at some time before. */
    RECOMPUTED,
    /** Some ops run together with another of their rank. */
    JOINED,
    /** Up to three of each stage, at any time. */
    UPDATES,
    /** Reductions, gatherings and hand-ons of any stage, at any time. */
    EXCHANGES
  }

  private final SplittableRandom random;
  private final Placement placement;
  private final int microBatches;
  private final Set<Part> parts;
  private final Program[] programs;
  private final List<Op> waiting = new ArrayList<>();
  private final Set<Op> done = new HashSet<>();
  private final int[] collectives = new int[2]; // the number of the next reduction and gathering
  private final int[] turn; // by stage of a chain: the next
  private final int[] lent; // by stage of a chain: the stage that was handed on and not used yet

  private RandomPrograms(
      SplittableRandom random, Placement placement, int microBatches, Set<Part> parts) {
    this.random = random;
    this.placement = placement;
    this.microBatches = microBatches;
    this.parts = parts;
    programs = new Program[placement.ranks()];
    Arrays.setAll(programs, rank -> new Program());
    turn = new int[placement.depth()];
    lent = new int[placement.depth()];
    Arrays.fill(lent, -1);
  }

  public static Schedule of(
      SplittableRandom random, Placement placement, int microBatches, Part... parts) {
    return new RandomPrograms(random, placement, microBatches, Set.of(parts)).schedule();
  }

  /** One of those that published schedules use. */
  public static Placement publishedPlacement(SplittableRandom random) {
    int ranks = random.nextInt(1, 5);
    return switch (random.nextInt(4)) {
      case 0 -> Placement.straight(ranks);
      case 1 -> Placement.looped(ranks, random.nextInt(1, 4));
      case 2 -> Placement.waves(ranks, random.nextInt(1, 4));
      default -> Placement.bothWays(ranks);
    };
  }

  /** Also chains that lie anyhow, several of the same stage on a rank. */
  public static Placement placement(SplittableRandom random) {
    if (random.nextInt(5) > 0) {
      return publishedPlacement(random);
    }
    int ranks = random.nextInt(1, 5);
    int chains = random.nextInt(1, 4);
    int depth = random.nextInt(1, 4);
    return Placement.of(ranks, chains, random.ints((long) chains * depth, 0, ranks).toArray());
  }

  private Schedule schedule() {
    for (int stage = 0; stage < placement.stages(); stage++) {
      for (int i = 0; i < microBatches; i++) {
        passes(stage, i);
      }
      for (int i = parts.contains(Part.UPDATES) ? random.nextInt(4) : 0; i > 0; i--) {
        waiting.add(new Op(Pass.UPDATE, stage, i));
      }
    }
    while (!waiting.isEmpty()) {
      switch (parts.contains(Part.EXCHANGES) ? random.nextInt(11) : 10) {
        case 0 -> collective(Pass.REDUCE);
        case 1 -> collective(Pass.GATHER);
        case 2, 3 -> gradientPass();
        default -> step();
      }
    }
    long[][] packed = Arrays.stream(programs).map(Program::packed).toArray(long[][]::new);
    return new Schedule("random", placement, microBatches, packed);
  }

  private void passes(int stage, int i) {
    waiting.add(new Op(Pass.FORWARD, stage, i));
    if (parts.contains(Part.RECOMPUTED) && random.nextInt(3) == 0) {
      waiting.add(new Op(Pass.RECOMPUTE, stage, i));
    }
    if (random.nextBoolean()) {
      waiting.add(new Op(Pass.BACKWARD, stage, i));
    } else {
      waiting.add(new Op(Pass.BACKWARD_INPUT, stage, i));
      waiting.add(new Op(Pass.BACKWARD_WEIGHT, stage, i));
    }
  }

  private void step() {
    List<Op> ready = waiting.stream().filter(this::ready).toList();
    Op op = ready.get(random.nextInt(ready.size()));
    int rank = placement.rankOf(op.stage());
    List<Op> mates =
        ready.stream().filter(o -> !o.equals(op) && placement.rankOf(o.stage()) == rank).toList();
    add(op);
    if (parts.contains(Part.JOINED) && !mates.isEmpty() && random.nextInt(4) == 0) {
      programs[rank].join();
      add(mates.get(random.nextInt(mates.size())));
    }
  }

  private boolean ready(Op op) {
    boolean again =
        op.pass().propagates()
            && waiting.contains(new Op(Pass.RECOMPUTE, op.stage(), op.microBatch()));
    return !again
        && Execution.inputs(op, placement).stream()
            .allMatch(some -> some.stream().anyMatch(done::contains));
  }

  private void add(Op op) {
    waiting.remove(op);
    done.add(op);
    programs[placement.rankOf(op.stage())].add(op.pass(), op.stage(), op.microBatch());
    int inChain = op.stage() % placement.depth();
    if (lent[inChain] == op.stage() && op.pass().endsTurn()) {
      lent[inChain] = -1;
    }
  }

  /** Some stage of each rank that holds it. */
  private void collective(Pass pass) {
    int inChain = random.nextInt(placement.depth());
    int number = collectives[pass == Pass.REDUCE ? 0 : 1]++;
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

  private void gradientPass() {
    int stage = random.nextInt(placement.stages());
    int inChain = stage % placement.depth();
    if (lent[inChain] < 0) {
      programs[placement.rankOf(stage)].add(Pass.HAND_ON, stage, turn[inChain]++);
      lent[inChain] = stage;
    }
  }
}
