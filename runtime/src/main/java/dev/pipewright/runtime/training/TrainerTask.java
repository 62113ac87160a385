package dev.pipewright.runtime.training;

import dev.pipewright.execution.Emulation;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.predict.run.RunPrediction;
import dev.pipewright.runtime.checkpoint.Checkpoint;
import dev.pipewright.runtime.checkpoint.Shards;
import dev.pipewright.runtime.data.Dataset;
import dev.pipewright.runtime.data.DatasetRequirements;
import dev.pipewright.runtime.data.DatasetSpec;
import dev.pipewright.runtime.data.Sampler;
import dev.pipewright.runtime.data.TrainingData;
import dev.pipewright.runtime.engine.Feed;
import dev.pipewright.runtime.engine.OpListener;
import dev.pipewright.runtime.engine.ReadAhead;
import dev.pipewright.runtime.engine.StepReport;
import dev.pipewright.runtime.engine.Worker;
import dev.pipewright.runtime.launch.LastStep;
import dev.pipewright.runtime.launch.Place;
import dev.pipewright.runtime.launch.Reporter;
import dev.pipewright.runtime.launch.WorkerTask;
import dev.pipewright.runtime.net.LossFunction;
import dev.pipewright.runtime.net.Network;
import dev.pipewright.runtime.net.TensorParallelGroup;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Transport;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import java.nio.file.Path;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;

/** Trains as one of the workers. */
public final class TrainerTask implements WorkerTask {
  private final UnaryOperator<Log> logs;

  /** Receives what a worker begins with. */
  interface Log {
    void at(long step, int position, char what, int stage, int microBatch);
  }

  public TrainerTask() {
    this(UnaryOperator.identity());
  }

  /**
   * @param logs to look on, or to interfere
   */
  TrainerTask(UnaryOperator<Log> logs) {
    this.logs = logs;
  }

  @Override
  public void run(String text, Transport transport, Reporter reporter) {
    Job job = Job.parse(text);
    LayerGraph graph = RunnableModel.of(job.model(), job.sequence());
    Log log = logs.apply(reporter.recorder()::at);
    int stage = firstStage(job.assignment(), transport.worker());
    StepMemory memory =
        job.emulation().isPresent() // whose tensors are few
            ? StepMemory.unseen()
            : memory(job);
    MemoryRecord record = MemoryRecord.of(job);
    OpListener opListener = record.beside(memory.beside(opListener(log, stage)));
    try (Reporting reporting = new Reporting(reporter)) {
      Going going =
          new Going(
              job,
              graph,
              memory,
              record,
              transport.worker(),
              stage,
              reporting,
              reporter.lastStep(),
              log);
      if (job.emulation().isPresent()) { // which reads no samples
        try (Worker worker = emulating(job.emulation().get(), job, graph, transport, opListener)) {
          going.with(worker, Optional.empty());
        }
      } else {
        TrainingData data =
            DatasetSpec.parse(job.data())
                .open(DatasetRequirements.of(graph, LossFunction.of(graph)));
        Feed feed = feed(job, data.training());
        try (ReadAhead ahead = new ReadAhead(feed);
            Worker worker =
                learning(job, graph, takesTurns(job) ? feed : ahead, transport, opListener)) {
          going.with(worker, Optional.of(data.heldOut()));
        }
      }
      reporting.event(Reports.memory(memory.bytes()));
    }
  }

  /** Whether a worker has samples in some steps only, so that it does not ask again in the next. */
  private static boolean takesTurns(Job job) {
    return job.assignment()
        .asyncPipeline()
        .map(asyncPipeline -> asyncPipeline.round() > 1)
        .orElse(false);
  }

  private static StepMemory memory(Job job) {
    RunSchedule runSchedule = job.runSchedule();
    return job.assignment()
        .asyncPipeline()
        .map(f ->
            StepMemory.ofFlow(
                runSchedule.first(), runSchedule.asynchronous(runSchedule.first(), f.round())))
        .orElseGet(() -> StepMemory.ofRun(runSchedule.first(), runSchedule.end()));
  }

  /** A stage of a worker, to say which one it is where it is at none of its ops. */
  private static int firstStage(Assignment assignment, int worker) {
    Placement placement = assignment.schedule().placement();
    int stage = 0;
    while (placement.rankOf(stage) != assignment.rankOf(worker)) {
      stage++;
    }
    return stage;
  }

  private static Worker emulating(
      Emulation emulation, Job job, LayerGraph graph, Transport transport, OpListener opListener) {
    Network network = Network.ofSizes(Chain.of(graph));
    return Worker.emulating(
        emulation, job.assignment(), network, transport, RunPrediction.BUCKET_BYTES, opListener);
  }

  private static Worker learning(
      Job job, LayerGraph graph, Feed feed, Transport transport, OpListener opListener) {
    Assignment assignment = job.assignment();
    Network network =
        new Network(
            Chain.of(graph),
            job.seed(),
            tensorGroup(assignment, transport),
            assignment.dividesAlike());
    return new Worker(
        assignment,
        network,
        LossFunction.of(graph),
        job.rule(),
        feed,
        transport,
        RunPrediction.BUCKET_BYTES,
        job.sharedStatistics(),
        opListener);
  }

  private static TensorParallelGroup tensorGroup(Assignment assignment, Transport transport) {
    int worker = transport.worker();
    Parallelism split = assignment.split(assignment.rankOf(worker));
    return TensorParallelGroup.of(split, assignment.tensorGroup(worker), transport);
  }

  private static Feed feed(Job job, Dataset samples) {
    Sampler sampler = new Sampler(samples.samples(), job.seed());
    return Feed.of(
        samples,
        (step, range) ->
            sampler.numbers(
                job.runSchedule().position(step, job.assignment()) + range.first(), range.count()));
  }

  private static OpListener opListener(Log log, int ownStage) {
    char update = Pass.UPDATE.letter().charAt(0);
    return (step, position, op) -> {
      if (op == OpListener.BEHIND) {
        log.at(step, position, update, ownStage, 0);
      } else {
        log.at(
            step,
            position,
            Schedule.pass(op).letter().charAt(0),
            Schedule.stage(op),
            Schedule.microBatch(op));
      }
    };
  }

  /** The steps of a run, and what is between them. */
  private record Going(
      Job job,
      LayerGraph graph,
      StepMemory memory,
      MemoryRecord record,
      int number,
      int stage,
      Reporting reporting,
      LastStep lastStep,
      Log log) {
    /** Runs all of them; held-out samples are there where training reads samples at all. */
    void with(Worker worker, Optional<Dataset> heldOut) {
      record.of(worker);
      RunSchedule runSchedule = job.runSchedule();
      job.resumeFrom().ifPresent(folder -> resume(worker, Checkpoint.open(Path.of(folder))));
      long kept = runSchedule.first();
      long step = runSchedule.first();
      while (step < runSchedule.end() && lastStep.begins(step)) {
        step = asyncPipeline(worker, step);
        if (runSchedule.evaluates(step - 1)) {
          evaluate(worker, step - 1, heldOut.orElseThrow());
        }
        if (runSchedule.keeps(step - 1)) {
          keep(worker, step - 1);
          kept = step;
        }
      }
      if (runSchedule.checkpointEvery() > 0 && kept < step) {
        keep(worker, step - 1);
      }
    }

    /** Runs a step, and those that overlap with it; returns the step after them. */
    private long asyncPipeline(Worker worker, long first) {
      int steps =
          job.assignment()
              .asyncPipeline()
              .map(f -> job.runSchedule().asynchronous(first, f.round()))
              .orElse(1);
      worker.begin(first, steps);
      for (long step = first; step < first + steps; step++) {
        StepReport report = worker.step(step);
        memory.over(step, worker);
        record.over(step).ifPresent(reporting::event);
        checkLoss(report);
        reporting.stepped(report);
      }
      return first + steps;
    }

    private void resume(Worker worker, Checkpoint checkpoint) {
      worker.continueAfter(job.runSchedule().first());
      worker.stages().forEach(own -> worker.restore(own, checkpoint::read));
    }

    private static void checkLoss(StepReport report) {
      if (!Double.isFinite(report.loss())) {
        throw new BadInputException(
            "the loss is "
                + report.loss()
                + " in step "
                + report.step()
                + "; a smaller --learning-rate usually helps");
      }
    }

    private void evaluate(Worker worker, long step, Dataset heldOut) {
      log.at(step, 0, Place.HELD_OUT, stage, 0);
      Feed feed =
          Feed.of(
              heldOut,
              (none, range) ->
                  LongStream.range(range.first(), range.first() + range.count()).toArray());
      int count = Math.toIntExact(heldOut.samples());
      reporting.event(Reports.heldOut(step, worker.answer(feed, count, LossFunction.of(graph))));
    }

    /** Writes the stages that no worker before this one holds, with those who have parts. */
    private void keep(Worker worker, long step) {
      for (int depth : worker.stages()) {
        int first = job.assignment().keeper(depth);
        boolean shared =
            job.assignment().inOnePlace() || job.assignment().sharding(depth) != ZeroStage.NOTHING;
        if (shared || job.assignment().tensorGroup(number).contains(first)) {
          try (Scope scope = new Scope()) {
            SequencedMap<String, Tensor> whole = worker.wholeState(depth);
            if (first == number) {
              write(step, depth, whole);
            }
          }
        }
      }
    }

    private void write(long step, int depth, SequencedMap<String, Tensor> state) {
      log.at(step, 0, Place.CHECKPOINT, depth, 0);
      Path folder = Path.of(reporting.ask(Long.toString(step + 1)));
      String file = "stage-" + depth + ".safetensors";
      reporting.event(Reports.shard(Shards.write(folder, file, state)));
    }
  }
}
