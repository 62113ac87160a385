package dev.pipewright.runtime.training;

import dev.pipewright.execution.TrainingFailureException;
import dev.pipewright.execution.TrainingInterruptedException;
import dev.pipewright.execution.TrainingListener;
import dev.pipewright.execution.TrainingOutcome;
import dev.pipewright.execution.TrainingRequest;
import dev.pipewright.execution.TrainingRequest.Keeping;
import dev.pipewright.execution.TrainingRequest.Machines;
import dev.pipewright.execution.TrainingRequest.Rendezvous;
import dev.pipewright.execution.TrainingService;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.runtime.checkpoint.Checkpoints;
import dev.pipewright.runtime.checkpoint.Manifest;
import dev.pipewright.runtime.data.DatasetRequirements;
import dev.pipewright.runtime.data.DatasetSpec;
import dev.pipewright.runtime.data.TrainingData;
import dev.pipewright.runtime.launch.Coordinator;
import dev.pipewright.runtime.launch.InterruptedRunException;
import dev.pipewright.runtime.launch.Launch;
import dev.pipewright.runtime.launch.Refusal;
import dev.pipewright.runtime.launch.WorkerFailureException;
import dev.pipewright.runtime.launch.WorkerTask;
import dev.pipewright.runtime.net.LossFunction;
import dev.pipewright.schedule.Placement;
import dev.pipewright.units.Seconds;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/** The training service on libtorch. */
public final class Trainer implements TrainingService {
  /** The folder of checkpoints in that of a run. */
  static final String CHECKPOINTS = "checkpoints";

  private static final String LOGS = "logs";

  private static final double LONGEST_MILLISECONDS = 1e12; // as nanoseconds still a long

  private static final int HEAP_MEGABYTES = 256; // of a worker that learns, without tensors
  private static final int SMALL_HEAP_MEGABYTES = 64; // of one that does not

  private final Class<? extends WorkerTask> task;
  private final Supplier<WorkerTask> threadTask;
  private final UnaryOperator<String> communication;

  public Trainer() {
    this(TrainerTask.class, TrainerTask::new, UnaryOperator.identity());
  }

  /**
   * @param task of each worker that is a process
   * @param threadTask of each that is a thread
   * @param communication sent to it instead of the job
   */
  Trainer(
      Class<? extends WorkerTask> task,
      Supplier<WorkerTask> threadTask,
      UnaryOperator<String> communication) {
    this.task = task;
    this.threadTask = threadTask;
    this.communication = communication;
  }

  @Override
  public TrainingOutcome train(TrainingRequest request, TrainingListener listener) {
    Optional<Path> folder = request.keeping().folder().map(Path::of);
    try (OutputFolder out = OutputFolder.of(folder.orElse(null))) { // before anything is read
      if (out != null) {
        out.requireInside(
            MetricFiles.LINES, MetricFiles.EVENTS, MemoryFile.FOLDER, LOGS, CHECKPOINTS);
      }
      return train(request, listener, Optional.ofNullable(out), prepare(request));
    }
  }

  @Override
  public void refuse(Machines machines, String why) {
    Refusal.tell(machines, why);
  }

  /** What a request has been found to mean, before anything starts. */
  private record Prepared(LayerGraph graph, Optional<Resumption> from, RunSchedule runSchedule) {}

  private Prepared prepare(TrainingRequest request) {
    try {
      return prepared(request);
    } catch (BadInputException e) { // which other ranks cannot know
      refuse(request.execution().machines(), String.valueOf(e.getMessage()));
      throw e;
    }
  }

  private static Prepared prepared(TrainingRequest request) {
    LayerGraph graph = RunnableModel.toCompute(request.model(), request.sequence());
    if (!request.emulates()) { // emulated layers take time, whatever they compute
      RunnableModel.requireOperators(request.model(), graph);
    }
    check(request, graph);
    Optional<Resumption> from =
        request.keeping().resumeFrom().map(f -> Resumption.of(Path.of(f), request, graph.name()));
    AsyncPipelineCheck.check(request, graph, from.map(f -> f.manifest().step()).orElse(0L));
    MemoryNeed.check(request, graph);
    RunSchedule runSchedule =
        new RunSchedule(
            from.map(f -> f.manifest().step()).orElse(0L),
            from.map(f -> f.manifest().samples()).orElse(0L),
            request.learning().steps(),
            request.learning().evaluateEvery(),
            request.keeping().checkpointEvery());
    return new Prepared(graph, from, runSchedule);
  }

  private TrainingOutcome train(
      TrainingRequest request,
      TrainingListener listener,
      Optional<OutputFolder> out,
      Prepared prepared) {
    RunSchedule runSchedule = prepared.runSchedule();
    Optional<CheckpointWriting> checkpoints = checkpoints(request, prepared.graph(), runSchedule);
    try (MetricFiles metrics = new MetricFiles(out, runSchedule, request.assignment())) {
      RunLedger ledger =
          new RunLedger(request.assignment(), runSchedule, listener, metrics, checkpoints);
      run(
          request,
          communication.apply(
              Job.of(request, runSchedule, prepared.from().map(f -> f.folder().toString())).text()),
          ledger,
          out);
      return ledger.outcome();
    }
  }

  /** What can be said before anything starts. */
  private static void check(TrainingRequest request, LayerGraph graph) {
    Keeping keeping = request.keeping();
    request
        .assignment()
        .shardingRefusal()
        .ifPresent(why -> {
          throw new BadInputException("--zero: " + why);
        });
    if (request.emulates()) { // which reads no samples
      refuse(request.assignment().sharding() != ZeroStage.NOTHING, "--zero");
      refuse(request.learning().evaluateEvery() > 0, "--evaluate-every");
      refuse(keeping.checkpointEvery() > 0, "--checkpoint-every");
      refuse(keeping.resumeFrom().isPresent(), "--resume");
      return;
    }
    ParallelismCheck.of(request, graph);
    TrainingData data =
        DatasetSpec.parse(request.learning().data())
            .open(DatasetRequirements.of(graph, LossFunction.of(graph)));
    long heldOut = data.heldOut().samples();
    if (request.learning().evaluateEvery() > 0
        && heldOut < request.assignment().schedule().placement().chains()) {
      throw new BadInputException(
          "--evaluate-every: %s has only %d held-out samples; leave it out, or give more data"
              .formatted(request.learning().data(), heldOut));
    }
    keeping
        .folder()
        .filter(folder ->
            keeping.resumeFrom().isEmpty() && !keeping.restarted() && holdsRun(Path.of(folder)))
        .ifPresent(folder -> {
          throw new BadInputException(
              "--out: %s holds another run; name another folder, or go on with --resume %s"
                  .formatted(folder, folder));
        });
  }

  private static void refuse(boolean given, String flag) {
    if (given) {
      throw new BadInputException(
          flag + ": workers that only take time learn nothing; leave it out");
    }
  }

  static boolean holdsRun(Path folder) {
    return folder.resolve(MetricFiles.LINES).toFile().length() > 0 // none where it never began
        || new Checkpoints(folder.resolve(CHECKPOINTS), 1).latest().isPresent();
  }

  private static Optional<CheckpointWriting> checkpoints(
      TrainingRequest request, LayerGraph graph, RunSchedule runSchedule) {
    if (runSchedule.checkpointEvery() == 0) {
      return Optional.empty();
    }
    Assignment assignment = request.assignment();
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put(Resumption.OPTIMIZER, Resumption.optimizer(request));
    settings.putAll(Manifest.tied(CheckpointFiles.tied(graph)));
    Path root = Path.of(request.keeping().folder().orElseThrow(), CHECKPOINTS);
    return Optional.of(
        new CheckpointWriting(
            new Checkpoints(root, request.keeping().checkpoints()).requireInside(),
            assignment.stages().size(),
            step ->
                new Manifest(
                    step,
                    runSchedule.position(step, assignment),
                    request.learning().seed(),
                    graph.name(),
                    "%s, %d stages, %d workers"
                        .formatted(
                            assignment.schedule().name(),
                            assignment.stages().size(),
                            assignment.size()),
                    settings,
                    List.of())));
  }

  private void run(
      TrainingRequest request, String job, RunLedger ledger, Optional<OutputFolder> out) {
    switch (request.execution().workers()) {
      case THREADS ->
          new ThreadWorkers(request.assignment().size(), threadTask, ledger)
              .run(job, request.execution().computing().threads());
      case PROCESSES -> processes(request, job, out.map(folder -> folder.folder(LOGS)), ledger);
    }
  }

  /**
   * What each worker may use. Whoever hands sums or states on while it computes is slower with a
   * processor of its own: what reads them there waits until computing pauses.
   */
  static Launch.Resources resources(TrainingRequest request) {
    int heap = request.emulates() ? SMALL_HEAP_MEGABYTES : HEAP_MEGABYTES;
    boolean apart = request.assignment().asyncPipeline().isEmpty();
    return new Launch.Resources(heap, request.execution().computing(), apart);
  }

  private void processes(
      TrainingRequest request, String job, Optional<Path> logs, RunLedger ledger) {
    Machines machines = request.execution().machines();
    Duration afterInterrupt =
        ledger.handlesInterrupts() ? duration(machines.grace()) : Duration.ZERO;
    Launch launch =
        Launch.of(request.assignment().size(), task.getName(), job, logs)
            .withHere(request.assignment().size() - machines.elsewhere())
            .withPort(machines.port())
            .withRoles(roles(request.assignment()))
            .with(resources(request))
            .withCertificates(machines.certificates())
            .with(
                Launch.Patience.USUAL
                    .afterInterrupt(afterInterrupt)
                    .withStall(duration(machines.patience())));
    Optional<Rendezvous> rendezvous = machines.rendezvous();
    if (rendezvous.isPresent()) {
      launch =
          launch
              .withToken(rendezvous.get().token(), rendezvous.get().again())
              .with(launch.patience().withJoin(duration(rendezvous.get().patience())));
    }
    try (Coordinator coordinator = new Coordinator(launch)) {
      if (machines.elsewhere() > 0 && rendezvous.isEmpty()) {
        ledger.waiting(machines.elsewhere(), coordinator.port(), coordinator.token());
      }
      coordinator.run(ledger);
    } catch (WorkerFailureException e) {
      throw new TrainingFailureException(
          String.valueOf(e.getMessage()), e, ledger.lastCheckpoint(), e.joined());
    } catch (InterruptedRunException e) {
      throw new TrainingInterruptedException(ledger.interrupted(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new TrainingFailureException("training was interrupted", e);
    }
  }

  private static Duration duration(Seconds patience) {
    return Duration.ofMillis((long) Math.min(LONGEST_MILLISECONDS, 1e3 * patience.value()));
  }

  /** The stages of each worker. */
  static List<String> roles(Assignment assignment) {
    Placement placement = assignment.schedule().placement();
    List<String> roles = new ArrayList<>();
    for (int worker = 0; worker < assignment.size(); worker++) {
      int rank = assignment.rankOf(worker);
      List<String> stages =
          IntStream.range(0, placement.stages())
              .filter(stage -> placement.rankOf(stage) == rank)
              .mapToObj(Integer::toString)
              .toList();
      roles.add((stages.size() == 1 ? "stage " : "stages ") + String.join(", ", stages));
    }
    return roles;
  }
}
