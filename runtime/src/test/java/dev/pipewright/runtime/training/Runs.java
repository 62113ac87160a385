package dev.pipewright.runtime.training;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.TrainingListener;
import dev.pipewright.execution.TrainingOutcome;
import dev.pipewright.execution.TrainingRequest;
import dev.pipewright.execution.TrainingRequest.Computing;
import dev.pipewright.execution.TrainingRequest.Execution;
import dev.pipewright.execution.TrainingRequest.Keeping;
import dev.pipewright.execution.TrainingRequest.Learning;
import dev.pipewright.execution.TrainingRequest.Machines;
import dev.pipewright.execution.TrainingRequest.Workers;
import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Optimizer;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.runtime.checkpoint.Checkpoint;
import dev.pipewright.runtime.checkpoint.Checkpoints;
import dev.pipewright.runtime.checkpoint.Manifest;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;

/**
 * Runs of a small network, which differ in what a test is about.
 *
 * @param steps that are made in all
 * @param every so many a checkpoint is written
 */
record Runs(
    String model,
    Assignment assignment,
    Optimizer optimizer,
    Workers workers,
    int steps,
    int every) {
  /** Its chain: the input, three layers and the scores. */
  static final String MODEL = "mlp:layers=3,hidden=16,in=12,classes=4";

  static final int BATCH = 10;
  static final String DATA = "synthetic,samples=200";
  static final long SEED = 5;

  /** Two stages, one of which two workers hold. */
  static Runs hybrid(Workers workers, int steps, int every) {
    return new Runs(
        MODEL,
        stages(OneForwardOneBackward.of(2, 2), List.of(2, 1), 0, 2),
        Optimizer.ADAM,
        workers,
        steps,
        every);
  }

  Runs with(Assignment other) {
    return new Runs(model, other, optimizer, workers, steps, every);
  }

  /**
   * Stages of the network's positions.
   *
   * @param firsts of each stage
   */
  static Assignment stages(Schedule schedule, List<Integer> workers, int... firsts) {
    int size = Chain.of(RunnableModel.of(MODEL)).size();
    List<StageLayers> stages = new ArrayList<>();
    for (int i = 0; i < firsts.length; i++) {
      stages.add(
          StageLayers.keeping(firsts[i], i + 1 < firsts.length ? firsts[i + 1] - 1 : size - 1));
    }
    return new Assignment(schedule, stages, workers, BATCH, false);
  }

  Runs by(Workers others) {
    return new Runs(model, assignment, optimizer, others, steps, every);
  }

  TrainingRequest request(Path out, Optional<Path> from) {
    return request(out, from, Machines.THIS_ONE);
  }

  TrainingRequest request(Path out, Optional<Path> from, Machines machines) {
    return new TrainingRequest(
        model,
        OptionalInt.empty(),
        assignment,
        new Learning(UpdateRule.usual(optimizer), DATA, steps, SEED),
        new Execution(workers, Computing.USUAL, machines),
        new Keeping(Optional.of(out.toString()), every, 2, from.map(Path::toString)));
  }

  TrainingOutcome run(Path out) {
    return new Trainer().train(request(out, Optional.empty()), step -> {});
  }

  TrainingOutcome resume(Path from, Path out) {
    return new Trainer().train(request(out, Optional.of(from)), step -> {});
  }

  TrainingOutcome run(Path out, TrainingListener listener) {
    return new Trainer().train(request(out, Optional.empty()), listener);
  }

  /** The numbers of all tensors of a run's last checkpoint, by name. */
  static Map<String, float[]> state(Path run) {
    Path last = last(run);
    Map<String, float[]> state = new TreeMap<>();
    Checkpoint checkpoint = Checkpoint.open(last).verify();
    for (String name : checkpoint.names()) {
      try (Scope scope = new Scope()) {
        state.put(name, checkpoint.read(name, checkpoint.shape(name)).toFloats());
      }
    }
    return state;
  }

  static Manifest manifest(Path run) {
    return Checkpoint.open(last(run)).verify().manifest();
  }

  static Path last(Path run) {
    return new Checkpoints(run.resolve(Trainer.CHECKPOINTS), 1).latest().orElseThrow();
  }

  /**
   * The same tensors, each as near as a share of its length as a vector and as numbers that are no
   * more than rounding.
   */
  static void near(
      Map<String, float[]> expected, Map<String, float[]> found, double share, double rounding) {
    assertEquals(expected.keySet(), found.keySet());
    expected.forEach((name, values) -> {
      double square = 0;
      double apart = 0;
      float[] others = found.getOrDefault(name, new float[0]);
      assertEquals(values.length, others.length, name);
      for (int i = 0; i < values.length; i++) {
        square += (double) values[i] * values[i];
        apart += Math.pow(values[i] - (double) others[i], 2);
      }
      assertTrue(Math.sqrt(apart) <= share * Math.sqrt(square) + rounding, name);
    });
  }
}
