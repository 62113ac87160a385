package dev.pipewright.runtime.engine;

import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.SampleRange;
import dev.pipewright.runtime.data.Values;
import dev.pipewright.runtime.net.ForwardPass;
import dev.pipewright.runtime.net.Objective;
import dev.pipewright.runtime.net.Part;
import dev.pipewright.runtime.tensor.Gradients;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
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
  private final Objective objective;

  /**
   * @param parts of each stage of a chain
   * @param stages of a chain that this worker holds
   */
  HeldOutEvaluation(
      Assignment assignment,
      Transport transport,
      List<Part> parts,
      IntFunction<StageParameters> stages,
      Objective objective) {
    this.stages = stages;
    this.assignment = assignment;
    this.transport = transport;
    this.parts = parts;
    this.objective = objective;
  }

  /** Answers samples from the first on, in rounds of a batch or somewhat more. */
  EvaluationResult answer(Feed feed, int count) {
    int rounds = Math.max(1, count / assignment.batch());
    EvaluationResult all = EvaluationResult.NONE;
    for (int round = 0; round < rounds; round++) {
      SampleRange samples = new SampleRange(0, count).part(round, rounds);
      try (Crossing crossing = new Crossing(forwardOnly(samples.count()), transport, parts)) {
        all = all.plus(round(crossing, feed, samples, 1.0 / count));
        crossing.flush();
      }
    }
    return all;
  }

  /** So many samples in the workers' stages, all of whose forward passes are ordered alike. */
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

  private EvaluationResult round(Crossing crossing, Feed feed, SampleRange all, double share) {
    Assignment round = forwardOnly(all.count());
    EvaluationResult answers = EvaluationResult.NONE;
    for (long op : round.schedule().packed(round.rankOf(transport.worker()))) {
      int stage = Schedule.stage(op);
      SampleRange own = round.samples(stage, Schedule.microBatch(op), transport.worker());
      StageParameters held = stages.apply(stage % assignment.stages().size());
      if (own.isEmpty()) {
        attend(held);
      } else {
        SampleRange samples = new SampleRange(all.first() + own.first(), own.count());
        answers = answers.plus(forward(crossing, feed, held, op, samples, share));
      }
    }
    return answers;
  }

  /** Gets and forgets parameters with those who have samples. */
  private static void attend(StageParameters held) {
    for (int segment = 0; segment < held.stage().segments().size(); segment++) {
      held.need(segment);
      held.leave(segment);
    }
  }

  private EvaluationResult forward(
      Crossing crossing,
      Feed feed,
      StageParameters held,
      long op,
      SampleRange samples,
      double share) {
    Placement placement = assignment.schedule().placement();
    int stage = Schedule.stage(op);
    int microBatch = Schedule.microBatch(op);
    boolean last = placement.last(stage);
    List<Tensor> inputs =
        placement.first(stage) ? List.of() : crossing.take(stage, microBatch, true);
    try (Scope scope = new Scope()) {
      List<Tensor> data =
          held.stage().whole().readsData()
              ? feed.inputs(0, samples).stream().map(Values::tensor).toList()
              : List.of();
      List<Tensor> outputs = through(held, inputs, data);
      if (!last) {
        crossing.send(stage, microBatch, true, outputs);
        return EvaluationResult.NONE;
      }
      Objective.Judged judged =
          objective.judge(
              outputs, feed.target(0, samples).tensor(), share, held.stage().whole().scores());
      outputs.forEach(Tensor::close);
      if (assignment.partOf(transport.worker()) > 0) { // whose first part counts them
        return EvaluationResult.NONE;
      }
      return new EvaluationResult(judged.loss(), judged.correct(), judged.rows());
    } finally {
      inputs.forEach(Tensor::close);
    }
  }

  /** The stage's outputs, which live until they are closed. */
  private static List<Tensor> through(
      StageParameters held, List<Tensor> inputs, List<Tensor> data) {
    List<Tensor> last = inputs;
    for (int i = 0; i < held.stage().segments().size(); i++) {
      Part part = held.stage().segments().get(i).part();
      List<Tensor> before = last;
      List<Tensor> made = new ArrayList<>();
      held.need(i);
      held.ahead(i + 1);
      try (Scope scope = new Scope()) {
        Gradients.without(() -> part.forward(before, data, ForwardPass.answering()))
            .forEach(output -> made.add(scope.keep(output)));
      }
      held.leave(i);
      if (i > 0) {
        before.forEach(Tensor::close);
      }
      last = made;
    }
    return last;
  }
}
