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

/**
 * Answers samples without learning from them: the stages pass them on where they are, micro-batch
 * behind micro-batch, and nothing comes back.
 */
final class Answering {
  private final Assignment assignment;
  private final Transport transport;
  private final List<Part> parts; // of each stage of a chain
  private final Objective objective;

  Answering(Assignment assignment, Transport transport, List<Part> parts, Objective objective) {
    this.assignment = assignment;
    this.transport = transport;
    this.parts = parts;
    this.objective = objective;
  }

  /** Answers samples from the first on, in rounds of a batch or somewhat more. */
  Answers answer(Feed feed, int count) {
    int rounds = Math.max(1, count / assignment.batch());
    Answers all = Answers.NONE;
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

  private Answers round(Crossing crossing, Feed feed, SampleRange all, double share) {
    Assignment round = forwardOnly(all.count());
    Answers answers = Answers.NONE;
    for (long op : round.schedule().packed(round.rankOf(transport.worker()))) {
      int stage = Schedule.stage(op);
      int microBatch = Schedule.microBatch(op);
      SampleRange own = round.samples(stage, microBatch, transport.worker());
      if (!own.isEmpty()) {
        SampleRange samples = new SampleRange(all.first() + own.first(), own.count());
        answers = answers.plus(forward(crossing, feed, stage, microBatch, samples, share));
      }
    }
    return answers;
  }

  private Answers forward(
      Crossing crossing, Feed feed, int stage, int microBatch, SampleRange samples, double share) {
    Placement placement = assignment.schedule().placement();
    Part part = parts.get(stage % placement.depth());
    boolean last = placement.last(stage);
    List<Tensor> inputs =
        placement.first(stage) ? List.of() : crossing.take(stage, microBatch, true);
    try (Scope scope = new Scope()) {
      List<Tensor> data =
          part.readsData()
              ? feed.inputs(0, samples).stream().map(Values::tensor).toList()
              : List.of();
      List<Tensor> outputs =
          Gradients.without(() -> part.forward(inputs, data, ForwardPass.answering()));
      if (!last) {
        crossing.send(stage, microBatch, true, outputs.stream().map(scope::keep).toList());
        return Answers.NONE;
      }
      Objective.Judged judged = objective.judge(outputs, feed.target(0, samples).tensor(), share);
      if (assignment.partOf(transport.worker()) > 0) { // whose first part counts them
        return Answers.NONE;
      }
      return new Answers(judged.loss(), judged.correct(), judged.rows());
    } finally {
      inputs.forEach(Tensor::close);
    }
  }
}
