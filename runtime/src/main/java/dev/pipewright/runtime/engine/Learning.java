package dev.pipewright.runtime.engine;

import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.SampleRange;
import dev.pipewright.runtime.data.Batch;
import dev.pipewright.runtime.net.Objective;
import dev.pipewright.runtime.net.SharedStatistics;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Computes everything with real samples. */
final class Learning implements Computation {
  private final Assignment assignment;
  private final Objective objective;
  private final Feed feed;
  private final SharedStatistics statistics;
  private double loss;
  private long correct;
  private long rows;

  Learning(Assignment assignment, Objective objective, Feed feed, SharedStatistics statistics) {
    this.assignment = assignment;
    this.objective = objective;
    this.feed = feed;
    this.statistics = statistics;
  }

  @Override
  public Flight flight(HeldStage held, long step, SampleRange samples) {
    List<Tensor> data = new ArrayList<>();
    Optional<Tensor> target = Optional.empty();
    boolean reads = held.stage().whole().readsData();
    boolean last = held.stage().whole().last();
    if (reads || last) {
      try (Scope scope = new Scope()) {
        Batch batch = feed.read(step, samples);
        if (reads) {
          batch.inputs().forEach(input -> data.add(scope.keep(input)));
        }
        if (last) {
          target = Optional.of(scope.keep(batch.target()));
        }
      }
    }
    return new InFlight(held.stage(), data, target, this::judge, held.inTwoParts(), statistics);
  }

  /** The loss of the network's outputs counts; its gradients begin the backward pass. */
  private List<Tensor> judge(List<Tensor> outputs, Tensor target) {
    try (Scope scope = new Scope()) {
      Objective.Judged judged = objective.judge(outputs, target, 1.0 / assignment.batch());
      loss += judged.loss();
      correct += judged.correct();
      rows += judged.rows();
      List<Tensor> gradients = new ArrayList<>();
      judged.gradients().forEach(gradient -> gradients.add(scope.keep(gradient)));
      return gradients;
    }
  }

  @Override
  public void update(Runnable learning) {
    learning.run();
  }

  @Override
  public Score score() {
    Score score = new Score(loss, correct, rows);
    loss = 0;
    correct = 0;
    rows = 0;
    return score;
  }
}
