package dev.pipewright.runtime.engine;

import static java.util.Objects.requireNonNull;

import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.Chain;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.SampleRange;
import dev.pipewright.runtime.net.ForwardPass;
import dev.pipewright.runtime.net.LossFunction;
import dev.pipewright.runtime.net.Network;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.net.Part;
import dev.pipewright.runtime.net.SharedStatistics;
import dev.pipewright.runtime.net.Tied;
import dev.pipewright.runtime.tensor.Gradients;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Training one micro-batch after the other in one place, as the update rules of the papers are
 * written: every version of the parameters is kept for ever, and each gradient is taken at the
 * version that the rule says. Numbers between passes are Java's.
 */
final class UpdateRules {
  /**
   * What a paper says.
   *
   * @param microBatches of a training step
   */
  record Rule(int microBatches, Version version, PerUpdate perUpdate) {
    Rule(int microBatches, Version version) {
      this(microBatches, version, stage -> microBatches);
    }
  }

  /** How many updates the parameters have seen that a micro-batch's gradient is taken at. */
  interface Version {
    /**
     * Of one micro-batch.
     *
     * @param i its number in its step, from 0
     * @param t the step
     * @param j the stage
     */
    int of(int i, int t, int j);
  }

  /** Micro-batches whose gradients make an update of a stage. */
  interface PerUpdate {
    int of(int stage);
  }

  /** One version for all: the newest. */
  static Rule synchronous(int microBatches) {
    return new Rule(microBatches, (i, t, j) -> t);
  }

  /**
   * PipeDream, §3.3: stage j (from 0) of n has n − 1 − j micro-batches between a forward pass and
   * the backward pass of the same one, and uses the newest weights that there are.
   */
  static Rule stashing(int stages) {
    return new Rule(1, (i, t, j) -> Math.max(0, t - (stages - 1 - j)));
  }

  /** PipeDream with vertical sync: w(t+1) = w(t) − ν ∇f(w1(t−n+1), …, wn(t−n+1)). */
  static Rule verticalSync(int stages) {
    return new Rule(1, (i, t, j) -> Math.max(0, t - stages + 1));
  }

  /**
   * 1F1B-RR, §3.2: replicas of a stage take micro-batches in turn, and update behind each round of
   * theirs. A replica has NOAM = ⌈workers from the stage on / replicas⌉ of its own under way.
   */
  static Rule inTurns(List<Integer> replicas) {
    return new Rule(
        1, (i, t, j) -> Math.max(0, t / replicas.get(j) - noam(replicas, j) + 1), replicas::get);
  }

  /** The same with vertical sync, which needs replicas of all stages to be as many. */
  static Rule inTurnsInSync(List<Integer> replicas) {
    return new Rule(
        1, (i, t, j) -> Math.max(0, t / replicas.get(0) - noam(replicas, 0) + 1), replicas::get);
  }

  private static int noam(List<Integer> replicas, int stage) {
    int workers = 0;
    for (int own : replicas.subList(stage, replicas.size())) {
      workers += own;
    }
    return (workers + replicas.get(stage) - 1) / replicas.get(stage);
  }

  /** PipeDream-2BW, equation 2: W(t+1) = W(t) − ν ∇f(W(t−1)). */
  static Rule twoBuffers(int microBatches) {
    return new Rule(microBatches, (i, t, j) -> Math.max(0, t - 1));
  }

  /** Cyclic data parallelism, CDP-v1: u = θ(t−1) for all; its first step has θ(−1) = θ(0). */
  static Rule cyclicV1(int workers) {
    return twoBuffers(workers);
  }

  /**
   * CDP-v2: u(i, j) = θ(t) where j ≥ N − i + 1, with micro-batch i and stage j counted from 1, else
   * θ(t−1).
   */
  static Rule cyclicV2(int workers) {
    return new Rule(workers, (i, t, j) -> j + 1 >= workers - (i + 1) + 1 ? t : Math.max(0, t - 1));
  }

  private final Training training;
  private final Network network;
  private final Part whole;
  private final List<Part> stages;
  private final Map<String, List<float[]>> versions = new TreeMap<>(); // by parameter
  private final Map<String, float[]> moments = new TreeMap<>();
  private final Map<String, float[]> sums = new TreeMap<>();

  private UpdateRules(Training training, List<StageLayers> cut) {
    this.training = training;
    this.network = new Network(Chain.of(training.graph()), Training.SEED);
    this.whole = network.part(0, network.size() - 1);
    this.stages = cut.stream().map(s -> network.part(s.range().first(), s.range().last())).toList();
    for (Parameter parameter : whole.parameters()) {
      List<float[]> own = new ArrayList<>();
      own.add(parameter.value().toFloats());
      versions.put(parameter.name(), own);
    }
  }

  /** Trains so many steps of so many samples. */
  static Training.Result run(
      Training training, List<StageLayers> cut, Rule rule, int batch, int steps) {
    UpdateRules serial = new UpdateRules(training, cut);
    double[] losses = new double[steps];
    int count = 0;
    for (int t = 0; t < steps; t++) {
      for (int i = 0; i < rule.microBatches(); i++) {
        for (int j = 0; j < cut.size(); j++) {
          serial.set(j, rule.version(), i, t);
        }
        SampleRange samples = new SampleRange(0, batch).part(i, rule.microBatches());
        losses[t] += serial.gradients(t, samples, batch);
        count++;
        for (int j = 0; j < cut.size(); j++) {
          int perUpdate = rule.perUpdate().of(j);
          if (count % perUpdate == 0) {
            serial.update(serial.stages.get(j), perUpdate / rule.microBatches());
          }
        }
      }
    }
    Map<String, float[]> last = new TreeMap<>();
    serial.versions.forEach((name, all) -> last.put(name, all.get(all.size() - 1)));
    return new Training.Result(losses, last);
  }

  /** A table that two stages read has the version of the first of them in both. */
  private void set(int j, Version version, int i, int t) {
    try (Scope scope = new Scope()) {
      for (Parameter parameter : stages.get(j).parameters()) {
        int number = version.of(i, t, Math.min(j, partner(parameter.name(), j)));
        float[] values = requireNonNull(versions.get(parameter.name())).get(number);
        Tensor chosen = Tensor.of(values, parameter.value().shape());
        Gradients.without(() -> parameter.value().copyInPlace(chosen));
      }
    }
  }

  /** The stage that has the same parameter by another name. */
  private int partner(String name, int otherwise) {
    for (Tied tied : network.tied()) {
      if (name.equals(tied.parameter()) || name.equals(tied.copy())) {
        String other = name.equals(tied.copy()) ? tied.parameter() : tied.copy();
        for (int j = 0; j < stages.size(); j++) {
          if (stages.get(j).parameters().stream().anyMatch(p -> p.name().equals(other))) {
            return j;
          }
        }
      }
    }
    return otherwise;
  }

  /** Of each of both names as much as of the other. */
  private void addUpTied(Map<String, float[]> gradients) {
    for (Tied tied : network.tied()) {
      float[] one = requireNonNull(gradients.get(tied.parameter()));
      float[] other = requireNonNull(gradients.get(tied.copy()));
      for (int k = 0; k < one.length; k++) {
        one[k] += other[k];
        other[k] = one[k];
      }
    }
  }

  /** Adds a micro-batch's gradients, a share of the mean over the batch; its loss likewise. */
  private double gradients(int step, SampleRange samples, int batch) {
    try (Scope scope = new Scope()) {
      List<Tensor> data =
          training.feed().inputs(step, samples).stream().map(values -> values.tensor()).toList();
      List<Tensor> outputs =
          whole.forward(List.of(), data, ForwardPass.training(false, SharedStatistics.OWN));
      Tensor target = training.feed().target(step, samples).tensor();
      LossFunction.Judged judged = training.objective().judge(outputs, target, 1.0 / batch);
      Gradients.add(List.of(outputs.get(outputs.size() - 1)), judged.gradients());
      Map<String, float[]> gradients = new TreeMap<>();
      for (Parameter parameter : whole.parameters()) {
        gradients.put(parameter.name(), parameter.value().gradient().orElseThrow().toFloats());
        parameter.value().clearGradient();
      }
      addUpTied(gradients);
      gradients.forEach((name, own) -> {
        float[] sum = sums.computeIfAbsent(name, key -> new float[own.length]);
        for (int k = 0; k < own.length; k++) {
          sum[k] += own[k];
        }
      });
      return judged.loss();
    }
  }

  /** PyTorch's SGD: v ← μ v + (g + λ θ), θ ← θ − γ v, the first v being its g + λ θ. */
  private void update(Part stage, int batches) {
    UpdateRule rule = training.rule();
    for (Parameter parameter : stage.parameters()) {
      float[] sum = requireNonNull(sums.remove(parameter.name()));
      List<float[]> all = requireNonNull(versions.get(parameter.name()));
      float[] before = all.get(all.size() - 1);
      float[] moment = moments.computeIfAbsent(parameter.name(), name -> new float[before.length]);
      float[] after = new float[before.length];
      for (int k = 0; k < after.length; k++) {
        float gradient = sum[k] / batches + (float) rule.decay() * before[k];
        moment[k] = (float) rule.momentum() * moment[k] + gradient;
        after[k] = before[k] - (float) rule.rate() * moment[k];
      }
      all.add(after);
    }
  }
}
