package dev.pipewright.sim.memory;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.sim.Run;
import dev.pipewright.trace.RankMemory;
import dev.pipewright.trace.RankMemory.Category;
import dev.pipewright.trace.RankMemory.Peak;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;

/**
 * Counts what the ranks of a run hold over time.
 *
 * <ul>
 *   <li>Parameters, gradients and optimizer state are there all the time, once for all chains of
 *       which a rank has the same stage; other ranks with that stage have their own.
 *   <li>An activation appears when its forward pass starts. The input's gradient frees a part of it
 *       and the weights' gradient the rest, each when it ends. Where the program recomputes it,
 *       only its input is there until then.
 *   <li>A version of the parameters older than the newest stays while a micro-batch in flight took
 *       it for its forward pass, or a later one will by the schedule's rule, until the gradient of
 *       its input is done, which needs them last. A new version comes into being when its update
 *       starts.
 *   <li>An output is in a buffer of its rank until it has arrived at the next stage's, and from
 *       then on in one of that rank until the next pass starts; gradients back likewise.
 * </ul>
 *
 * <p>What ranks exchange beside the passes (sums of gradients, parameters handed on) takes no
 * memory of its own here. O(ops · log ops), since messages come in any order.
 */
public final class RunMemory {
  private final Run run;
  private final Schedule schedule;
  private final Placement placement;
  private final StageBytes[] stages; // of all chains
  private final BitSet recomputed = new BitSet(); // by stage of all chains, and micro-batch
  private final int[] versionOf; // likewise: the one that the forward pass took

  private final Supplier<Versions> rule;

  private RunMemory(Run run, List<StageBytes> stages, Supplier<Versions> rule) {
    this.run = run;
    this.rule = rule;
    schedule = run.schedule();
    placement = schedule.placement();
    this.stages = new StageBytes[placement.stages()];
    Arrays.setAll(this.stages, stage -> stages.get(stage % placement.depth()));
    versionOf = new int[Math.multiplyExact(schedule.stages(), schedule.microBatches())];
  }

  /**
   * The memory of each rank, where a forward pass takes the newest version of the parameters.
   *
   * @param stages of one chain; all chains have the same
   */
  public static List<RankMemory> of(Run run, List<StageBytes> stages) {
    return of(run, stages, NewestVersions::new);
  }

  /**
   * The same where a rule says which version of the parameters a micro-batch takes, of one chain
   * whose micro-batches end in order.
   *
   * @param versionOf a micro-batch: how many updates the parameters have seen
   */
  public static List<RankMemory> of(Run run, List<StageBytes> stages, IntUnaryOperator versionOf) {
    int microBatches = run.schedule().microBatches();
    return of(run, stages, () -> new RuledVersions(versionOf, microBatches));
  }

  /** The peak of each rank, where a forward pass takes the newest version of the parameters. */
  public static List<Peak> peaks(Run run, List<StageBytes> stages) {
    return each(run, stages, NewestVersions::new, Rank::peak);
  }

  private static List<RankMemory> of(Run run, List<StageBytes> stages, Supplier<Versions> rule) {
    return each(run, stages, rule, Rank::memory);
  }

  private static <T> List<T> each(
      Run run, List<StageBytes> stages, Supplier<Versions> rule, Function<Rank, T> counted) {
    int depth = run.schedule().placement().depth();
    Check.that(
        stages.size() == depth,
        "one size for each stage of a chain: sizes=%d, stages=%d",
        stages.size(),
        depth);
    RunMemory memory = new RunMemory(run, stages, rule);
    List<T> ranks = new ArrayList<>();
    for (int rank = 0; rank < run.schedule().ranks(); rank++) {
      ranks.add(counted.apply(memory.rank(rank)));
    }
    return ranks;
  }

  private StageBytes bytes(int stage) {
    return stages[stage];
  }

  /** What a micro-batch keeps beyond the others. */
  private double last(long op) {
    boolean isLast = Schedule.microBatch(op) == schedule.microBatches() - 1;
    return isLast ? bytes(Schedule.stage(op)).last() : 0;
  }

  /** The working space of a backward pass or half of it. */
  private double working(long op) {
    return bytes(Schedule.stage(op)).working() - last(op);
  }

  /** The part of it that the input's gradient leaves for the weights'. */
  private double recomputed(long op) {
    return Math.max(0, bytes(Schedule.stage(op)).recomputed() - last(op));
  }

  private int place(long op) {
    return Schedule.stage(op) * schedule.microBatches() + Schedule.microBatch(op);
  }

  private Rank rank(int rank) {
    for (long op : schedule.packed(rank)) {
      if (Schedule.pass(op) == Pass.RECOMPUTE) {
        recomputed.set(place(op));
      }
    }
    return new Rank(rank);
  }

  /** One rank's changes. */
  private final class Rank {
    private final int rank;
    private final long[] program;
    private final Changes changes = new Changes();
    private final Versions[] versions = new Versions[placement.depth()];

    Rank(int rank) {
      this.rank = rank;
      program = schedule.packed(rank);
      for (int stage = 0; stage < versions.length; stage++) {
        versions[stage] = rule.get();
      }
    }

    RankMemory memory() {
      run();
      return changes.memory(rank, fixed());
    }

    Peak peak() {
      run();
      return changes.peak(fixed());
    }

    private void run() {
      for (int first = 0; first < program.length; ) {
        int last = first;
        while (last < program.length - 1 && Schedule.isJoined(program[last])) {
          last++;
        }
        together(first, last);
        first = last + 1;
      }
    }

    /** What is there all the time, by category. */
    private double[] fixed() {
      double[] fixed = new double[Category.values().length];
      BitSet held = new BitSet();
      for (int stage = 0; stage < placement.stages(); stage++) {
        int own = stage % placement.depth();
        if (placement.rankOf(stage) == rank && !held.get(own)) {
          held.set(own);
          fixed[Category.PARAMETERS.code()] += bytes(stage).parameters();
          fixed[Category.GRADIENTS.code()] += bytes(stage).gradients();
          fixed[Category.OPTIMIZER.code()] += bytes(stage).optimizer();
        }
      }
      return fixed;
    }

    /** Ops that start together and end together. */
    private void together(int first, int last) {
      double end = 0;
      for (int i = first; i <= last; i++) {
        start(program[i], run.start(rank, i));
        end = Math.max(end, run.end(rank, i));
      }
      for (int i = first; i <= last; i++) {
        end(program[i], end);
      }
    }

    private void start(long op, double at) {
      int stage = Schedule.stage(op);
      StageBytes bytes = bytes(stage);
      switch (Schedule.pass(op)) {
        case FORWARD -> {
          boolean later = recomputed.get(place(op));
          double kept = (later ? bytes.input() : bytes.activation()) + last(op);
          changes.add(Category.ACTIVATIONS, at, kept);
          versionOf[place(op)] = versions[stage % placement.depth()].take(Schedule.microBatch(op));
          receivedActivation(stage, Schedule.microBatch(op), at);
        }
        case RECOMPUTE -> changes.add(Category.ACTIVATIONS, at, bytes.activation() - bytes.input());
        case BACKWARD, BACKWARD_INPUT -> {
          changes.add(Category.BUFFERS, at, working(op));
          receivedGradient(stage, Schedule.microBatch(op), at);
        }
        case BACKWARD_WEIGHT -> changes.add(Category.BUFFERS, at, working(op) - recomputed(op));
        case UPDATE -> {
          int stashed = versions[stage % placement.depth()].update();
          changes.add(Category.STASHED_PARAMETERS, at, stashed * bytes.parameters());
        }
        case REDUCE, GATHER, HAND_ON -> {}
      }
    }

    private void end(long op, double at) {
      int stage = Schedule.stage(op);
      StageBytes bytes = bytes(stage);
      double weights = bytes.weightShare() * bytes.activation();
      switch (Schedule.pass(op)) {
        case FORWARD -> sentActivation(stage, Schedule.microBatch(op), at);
        case BACKWARD -> {
          backward(at, working(op), bytes.activation() + last(op));
          left(op, at);
        }
        case BACKWARD_INPUT -> {
          double freed = bytes.activation() + last(op) - weights;
          backward(at, working(op) - recomputed(op), freed);
          left(op, at);
        }
        case BACKWARD_WEIGHT -> backward(at, working(op), weights);
        case RECOMPUTE, UPDATE, REDUCE, GATHER, HAND_ON -> {}
      }
    }

    /** A backward pass, or half of it, frees working space and a part of the activation. */
    private void backward(double at, double working, double freed) {
      changes.add(Category.BUFFERS, at, -working);
      changes.add(Category.ACTIVATIONS, at, -freed);
    }

    /** The gradient of the input is done: it leaves its version and goes to the stage before. */
    private void left(long op, double at) {
      int stage = Schedule.stage(op);
      int dropped = versions[stage % placement.depth()].leave(versionOf[place(op)]);
      changes.add(Category.STASHED_PARAMETERS, at, -dropped * bytes(stage).parameters());
      if (!placement.first(stage) && bytes(stage - 1).message() > 0) {
        double arrival = run.gradientAt(stage - 1, Schedule.microBatch(op));
        changes.buffer(at, arrival, bytes(stage - 1).message());
      }
    }

    private void sentActivation(int stage, int microBatch, double at) {
      if (!placement.last(stage) && bytes(stage).message() > 0) {
        changes.buffer(at, run.activationAt(stage + 1, microBatch), bytes(stage).message());
      }
    }

    private void receivedActivation(int stage, int microBatch, double until) {
      if (!placement.first(stage) && bytes(stage - 1).message() > 0) {
        changes.buffer(run.activationAt(stage, microBatch), until, bytes(stage - 1).message());
      }
    }

    private void receivedGradient(int stage, int microBatch, double until) {
      if (!placement.last(stage) && bytes(stage).message() > 0) {
        changes.buffer(run.gradientAt(stage, microBatch), until, bytes(stage).message());
      }
    }
  }
}
