package dev.pipewright.runtime.training;

import dev.pipewright.execution.HeldOutResult;
import dev.pipewright.execution.StepResult;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.plan.Assignment;
import dev.pipewright.runtime.metrics.JsonLines;
import dev.pipewright.runtime.metrics.MetricSink;
import dev.pipewright.runtime.metrics.StepMetrics;
import dev.pipewright.runtime.metrics.TensorBoardEvents;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Writes what every step shows into a run's folder: one record for each, complete. */
final class MetricFiles implements AutoCloseable {
  static final String LINES = "metrics.jsonl";
  static final String EVENTS = "tensorboard";

  private final RunSchedule runSchedule;
  private final Assignment assignment;
  private final Optional<OutputFolder> folder;
  private final List<MetricSink> sinks;
  private Optional<StepResult> waiting = Optional.empty(); // for its held-out samples

  MetricFiles(Optional<OutputFolder> folder, RunSchedule runSchedule, Assignment assignment) {
    this.runSchedule = runSchedule;
    this.assignment = assignment;
    this.folder = folder;
    this.sinks =
        folder
            .<List<MetricSink>>map(to ->
                List.of(
                    new JsonLines(to.file(LINES)),
                    new TensorBoardEvents(to.folder(EVENTS), unixSeconds())))
            .orElse(List.of());
  }

  private static double unixSeconds() {
    return System.currentTimeMillis() / 1e3;
  }

  void stepped(StepResult step) {
    flush();
    if (runSchedule.evaluates(step.step())) {
      waiting = Optional.of(step);
    } else {
      record(step, Optional.empty());
    }
  }

  void evaluated(HeldOutResult result) {
    waiting.ifPresent(step -> record(step, Optional.of(result)));
    waiting = Optional.empty();
  }

  /** What a worker's tensors took up over a step. */
  void memory(int worker, List<MemoryRecord.Sample> samples) {
    folder.ifPresent(run -> MemoryFile.write(run.folder(MemoryFile.FOLDER), worker, samples));
  }

  private void flush() {
    waiting.ifPresent(step -> record(step, Optional.empty()));
    waiting = Optional.empty();
  }

  private void record(StepResult step, Optional<HeldOutResult> heldOut) {
    Map<String, Double> values = new LinkedHashMap<>();
    values.put(StepMetrics.LOSS, step.loss());
    if (Double.isFinite(step.correct())) {
      values.put("train_accuracy", step.correct());
    }
    values.put(StepMetrics.STEP_SECONDS, step.seconds());
    values.put(StepMetrics.SAMPLES_PER_SECOND, step.samples() / step.seconds());
    values.put(StepMetrics.IDLE_SHARE, step.idleShare());
    heldOut.ifPresent(result -> {
      values.put("held_out_loss", result.loss());
      if (Double.isFinite(result.correct())) {
        values.put(StepMetrics.ACCURACY, result.correct());
      }
    });
    StepMetrics metrics =
        new StepMetrics(
            step.step() + 1,
            runSchedule.position(step.step() + 1, assignment),
            unixSeconds(),
            values);
    sinks.forEach(sink -> sink.record(metrics));
  }

  @Override
  public void close() {
    flush();
    sinks.forEach(MetricSink::close);
  }
}
