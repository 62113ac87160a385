package dev.pipewright.runtime.engine;

import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.SampleRange;
import dev.pipewright.runtime.net.LossFunction;
import dev.pipewright.runtime.net.ScoresPart;
import dev.pipewright.runtime.net.SharedStatistics;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Computes everything with real samples. */
final class TensorComputation implements Computation {
  private final LossFunction objective;
  private final Feed feed;
  private final double weight; // of a sample
  private final boolean counted; // once for workers that compute the same tokens
  private final Optional<SharedStatistics> training; // no evaluation
  private final Map<Long, Score> scores = new HashMap<>(); // by step, of steps under way

  private TensorComputation(
      LossFunction objective,
      Feed feed,
      double weight,
      boolean counted,
      Optional<SharedStatistics> training) {
    this.objective = objective;
    this.feed = feed;
    this.weight = weight;
    this.counted = counted;
    this.training = training;
  }

  /** Training; the loss is the mean over a batch. */
  static TensorComputation training(
      LossFunction objective,
      Feed feed,
      Assignment assignment,
      int worker,
      SharedStatistics statistics) {
    double weight = 1.0 / assignment.batch();
    boolean counted = assignment.pieceOf(worker) == 0;
    return new TensorComputation(objective, feed, weight, counted, Optional.of(statistics));
  }

  /** Evaluation of so many samples, over which the loss is the mean. */
  static TensorComputation evaluation(
      LossFunction objective, Feed feed, Assignment assignment, int worker, int samples) {
    boolean counted = assignment.pieceOf(worker) == 0;
    return new TensorComputation(objective, feed, 1.0 / samples, counted, Optional.empty());
  }

  @Override
  public Flight flight(StageParameters own, long step, SampleRange samples, boolean keeps) {
    List<Tensor> data = new ArrayList<>();
    Optional<Tensor> target = Optional.empty();
    boolean reads = own.stage().whole().readsData();
    boolean last = own.stage().whole().last();
    if (reads || last) {
      try (Scope scope = new Scope()) {
        if (reads) {
          feed.inputs(step, samples).forEach(input -> data.add(scope.keep(input.tensor())));
        }
        if (last) {
          target = Optional.of(scope.keep(feed.target(step, samples).tensor()));
        }
      }
    }
    return new InFlight(
        own,
        samples.count(),
        data,
        target,
        (outputs, right) -> judge(own, step, outputs, right),
        training,
        keeps);
  }

  /** The loss of the network's outputs counts; its gradients begin the backward pass. */
  private List<Tensor> judge(StageParameters own, long step, List<Tensor> outputs, Tensor target) {
    try (Scope scope = new Scope()) {
      Optional<ScoresPart> part = own.stage().whole().scores();
      LossFunction.Judged judged = objective.judge(outputs, target, weight, part);
      Score score = new Score(judged.loss(), judged.correct(), judged.rows());
      boolean counts = counted || part.filter(ScoresPart::ownRows).isPresent();
      scores.merge(step, counts ? score : Score.NONE, Score::plus);
      List<Tensor> gradients = new ArrayList<>();
      judged.gradients().forEach(gradient -> gradients.add(scope.keep(gradient)));
      return gradients;
    }
  }

  @Override
  public boolean learns() {
    return true;
  }

  @Override
  public void update(Stage stage, Runnable learning) {
    learning.run();
  }

  @Override
  public Score score(long step) {
    return Optional.ofNullable(scores.remove(step)).orElse(Score.NONE);
  }
}
