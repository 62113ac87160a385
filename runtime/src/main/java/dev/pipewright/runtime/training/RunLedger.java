package dev.pipewright.runtime.training;

import dev.pipewright.execution.HeldOutResult;
import dev.pipewright.execution.StepResult;
import dev.pipewright.execution.TrainingListener;
import dev.pipewright.execution.TrainingOutcome;
import dev.pipewright.plan.Assignment;
import dev.pipewright.runtime.engine.Score;
import dev.pipewright.runtime.engine.StepReport;
import dev.pipewright.runtime.launch.Coordinator;
import dev.pipewright.runtime.launch.StealTimeClock;
import java.net.ProtocolException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import tools.jackson.databind.JsonNode;

/** Receives the reports of all workers of a run and keeps them. */
final class RunLedger implements Coordinator.Listener {
  private final Assignment assignment;
  private final RunSchedule runSchedule;
  private final TrainingListener listener;
  private final MetricFiles metrics;
  private final Optional<CheckpointWriting> checkpoints;
  private final StepAssembly steps;
  private final Map<Long, List<Score>> answers = new HashMap<>(); // not yet of all workers
  private final List<HeldOutResult> heldOut = new ArrayList<>();
  private final TrainingOutcome.Worker[] workers;
  private final StealTimeClock clock = new StealTimeClock();

  RunLedger(
      Assignment assignment,
      RunSchedule runSchedule,
      TrainingListener listener,
      MetricFiles metrics,
      Optional<CheckpointWriting> checkpoints) {
    this.assignment = assignment;
    this.runSchedule = runSchedule;
    this.listener = listener;
    this.metrics = metrics;
    this.checkpoints = checkpoints;
    this.steps = new StepAssembly(assignment, runSchedule, clock::ticks);
    this.workers = new TrainingOutcome.Worker[assignment.size()];
  }

  @Override
  public void event(int worker, String text) throws ProtocolException {
    JsonNode line = Reports.line(text);
    if (line.has("steps")) {
      List<StepReport> reports = Reports.steps(line);
      for (StepReport report : reports) {
        Reports.require(
            runSchedule.first() <= report.step() && report.step() < runSchedule.end(), "step");
      }
      steps.add(worker, reports).forEach(this::stepped);
    } else if (line.has("held_out")) {
      answered(Reports.whole(line, "held_out"), Reports.answers(line));
    } else if (line.has("memory_of")) {
      metrics.memory(worker, Reports.samples(line));
    } else if (line.has("shard")) {
      writing().written(Reports.shard(line));
    } else {
      workers[worker] =
          new TrainingOutcome.Worker(
              worker, assignment.rankOf(worker), Reports.whole(line, "peak_bytes"));
    }
  }

  private CheckpointWriting writing() throws ProtocolException {
    return checkpoints.orElseThrow(
        () -> new ProtocolException("it is about a checkpoint, and this run writes none"));
  }

  private void stepped(StepResult step) {
    metrics.stepped(step);
    listener.stepped(step);
  }

  private void answered(long step, Score own) {
    List<Score> all = answers.computeIfAbsent(step, key -> new ArrayList<>());
    all.add(own);
    if (all.size() == assignment.size()) {
      answers.remove(step);
      double loss = all.stream().mapToDouble(Score::loss).sum();
      long correct = all.stream().mapToLong(Score::correct).sum();
      long rows = all.stream().mapToLong(Score::rows).sum();
      HeldOutResult result = new HeldOutResult(step, loss, (double) correct / rows);
      heldOut.add(result);
      metrics.evaluated(result);
      listener.evaluated(result);
    }
  }

  /** The folder of a checkpoint: all that workers ask for. */
  @Override
  public void question(int worker, String text, Consumer<String> answer) throws ProtocolException {
    writing().asked(Reports.step(text), answer);
  }

  void waiting(int workers, int port, String token) {
    listener.waiting(workers, port, token);
  }

  boolean handlesInterrupts() {
    return listener.handlesInterrupts();
  }

  @Override
  public boolean stopping() {
    return listener.stopping();
  }

  /** What an interrupt has left of the run, in a sentence. */
  String interrupted() {
    return TrainingOutcome.interrupted(
        runSchedule.first() + steps.results().size(), runSchedule.end(), lastCheckpoint());
  }

  /** The folder of the last checkpoint that was written. */
  Optional<String> lastCheckpoint() {
    return checkpoints.flatMap(CheckpointWriting::last).map(Path::toString);
  }

  TrainingOutcome outcome() {
    List<StepResult> results = steps.results();
    return new TrainingOutcome(
        results,
        steps.typical(),
        steps.calm(),
        List.of(workers),
        heldOut,
        lastCheckpoint(),
        clock.stolen(),
        results.size() < runSchedule.end() - runSchedule.first());
  }
}
