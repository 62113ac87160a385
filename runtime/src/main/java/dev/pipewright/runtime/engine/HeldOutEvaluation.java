package dev.pipewright.runtime.engine;

import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.SampleRange;
import dev.pipewright.runtime.data.HostValues;
import dev.pipewright.runtime.net.LossFunction;
import dev.pipewright.runtime.net.Part;
import dev.pipewright.runtime.transport.Transport;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/**
 * Evaluates held-out samples: a forward pass through the stages, micro-batch after micro-batch,
 * without gradients.
 */
final class HeldOutEvaluation {
  private final Assignment assignment;
  private final Transport transport;
  private final List<Part> parts;
  private final IntFunction<StageParameters> stages;
  private final LossFunction objective;

  /**
   * @param parts of each stage of a chain
   * @param stages of a chain that this worker holds
   */
  HeldOutEvaluation(
      Assignment assignment,
      Transport transport,
      List<Part> parts,
      IntFunction<StageParameters> stages,
      LossFunction objective) {
    this.stages = stages;
    this.assignment = assignment;
    this.transport = transport;
    this.parts = parts;
    this.objective = objective;
  }

  /** Evaluates samples from the first on, in rounds of a batch or somewhat more. */
  Score evaluate(Feed feed, int count) {
    int rounds = Math.max(1, count / assignment.batch());
    Score all = Score.NONE;
    for (int round = 0; round < rounds; round++) {
      SampleRange samples = new SampleRange(0, count).part(round, rounds);
      all = all.plus(round(forwardOnly(samples.count()), from(feed, samples.first()), count));
    }
    return all;
  }

  /** The feed's samples from one on. */
  private static Feed from(Feed feed, int first) {
    return new Feed() {
      @Override
      public List<HostValues> inputs(long step, SampleRange samples) {
        return feed.inputs(step, new SampleRange(first + samples.first(), samples.count()));
      }

      @Override
      public HostValues target(long step, SampleRange samples) {
        return feed.target(step, new SampleRange(first + samples.first(), samples.count()));
      }
    };
  }

  /** An assignment of forward passes alone, in the same order on all workers. */
  private Assignment forwardOnly(int samples) {
    Placement placement = assignment.schedule().placement();
    int microBatches = Math.min(assignment.schedule().microBatches(), samples / placement.chains());
    long[][] programs = new long[placement.ranks()][];
    for (int rank = 0; rank < programs.length; rank++) {
      List<Long> program = new ArrayList<>();
      for (int microBatch = 0; microBatch < microBatches; microBatch++) {
        for (int depth = 0; depth < placement.depth(); depth++) {
          for (int stage = depth; stage < placement.stages(); stage += placement.depth()) {
            if (placement.rankOf(stage) == rank) {
              program.add(Schedule.pack(Pass.FORWARD, stage, microBatch));
            }
          }
        }
      }
      programs[rank] = program.stream().mapToLong(Long::longValue).toArray();
    }
    return new Assignment(
        new Schedule("answers", placement, microBatches, programs),
        assignment.stages(),
        assignment.workers(),
        samples,
        false);
  }

  private Score round(Assignment round, Feed feed, int count) {
    int worker = transport.worker();
    Computation computation = TensorComputation.evaluation(objective, feed, round, worker, count);
    try (Passes passes = new Passes(round, transport, parts, computation)) {
      for (long op : round.schedule().packed(round.rankOf(worker))) {
        StageParameters own = stages.apply(Schedule.stage(op) % parts.size());
        if (passes.computes(op)) {
          passes.evaluate(op, own);
        } else {
          attend(own);
        }
      }
      passes.flush();
    }
    return computation.score(0);
  }

  /** Gathers and leaves parameters together with the workers that have samples. */
  private static void attend(StageParameters own) {
    for (int segment = 0; segment < own.stage().segments().size(); segment++) {
      own.need(segment);
      own.leave(segment);
    }
  }
}
