package dev.pipewright.runtime.training;

import dev.pipewright.execution.Emulation;
import dev.pipewright.execution.Expectation;
import dev.pipewright.formats.BadInputException;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Sharding;
import dev.pipewright.plan.Split;
import dev.pipewright.runtime.checkpoint.Checkpoint;
import dev.pipewright.runtime.checkpoint.Shards;
import dev.pipewright.runtime.data.Dataset;
import dev.pipewright.runtime.data.DatasetSpec;
import dev.pipewright.runtime.data.Sampler;
import dev.pipewright.runtime.data.TrainingData;
import dev.pipewright.runtime.data.Wanted;
import dev.pipewright.runtime.engine.Feed;
import dev.pipewright.runtime.engine.FlowWorker;
import dev.pipewright.runtime.engine.ReadAhead;
import dev.pipewright.runtime.engine.StepReport;
import dev.pipewright.runtime.engine.Trainee;
import dev.pipewright.runtime.engine.Witness;
import dev.pipewright.runtime.engine.Worker;
import dev.pipewright.runtime.launch.LastStep;
import dev.pipewright.runtime.launch.Place;
import dev.pipewright.runtime.launch.Reporter;
import dev.pipewright.runtime.launch.WorkerTask;
import dev.pipewright.runtime.net.Network;
import dev.pipewright.runtime.net.Objective;
import dev.pipewright.runtime.net.Team;
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

  /** Where a worker says what it begins with. */
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
    LayerGraph graph = RunnableModel.of(job.model());
    Log log = logs.apply(reporter.recorder()::at);
    int stage = firstStage(job.assignment(), transport.worker());
    StepMemory memory =
        job.emulation().isPresent() // whose tensors are few
            ? StepMemory.unseen()
            : memory(job);
    MemoryRecord record = MemoryRecord.of(job);
    Witness witness = record.beside(memory.beside(witness(log, stage)));
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
        try (Trainee worker = emulating(job.emulation().get(), job, graph, transport, witness)) {
          going.with(worker, Optional.empty());
        }
      } else {
        TrainingData data =
            DatasetSpec.parse(job.data()).open(Wanted.of(graph, Objective.of(graph)));
        Feed feed = feed(job, data.training());
        try (ReadAhead ahead = new ReadAhead(feed);
            Trainee worker =
                learning(job, graph, takesTurns(job) ? feed : ahead, transport, witness)) {
          going.with(worker, Optional.of(data.heldOut()));
        }
      }
      reporting.event(Reports.memory(memory.bytes()));
    }
  }

  /** Whether a worker has samples in some steps only, so that it does not ask again in the next. */
  private static boolean takesTurns(Job job) {
    return job.assignment().flow().map(flow -> flow.round() > 1).orElse(false);
  }

  private static StepMemory memory(Job job) {
    Course course = job.course();
    return job.assignment()
        .flow()
        .map(f -> StepMemory.ofFlow(course.first(), course.flowing(course.first(), f.round())))
        .orElseGet(() -> StepMemory.ofRun(course.first(), course.end()));
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

  private static Trainee emulating(
      Emulation emulation, Job job, LayerGraph graph, Transport transport, Witness witness) {
    Network network = Network.ofSizes(Chain.of(graph));
    if (job.assignment().flow().isPresent()) {
      return FlowWorker.emulating(emulation, job.assignment(), network, transport, witness);
    }
    return Worker.emulating(
        emulation, job.assignment(), network, transport, Expectation.BUCKET_BYTES, witness);
  }

  private static Trainee learning(
      Job job, LayerGraph graph, Feed feed, Transport transport, Witness witness) {
    Network network = new Network(Chain.of(graph), job.seed(), team(job.assignment(), transport));
    if (job.assignment().flow().isPresent()) {
      return new FlowWorker(
          job.assignment(),
          network,
          Objective.of(graph),
          job.rule(),
          feed,
          transport,
          job.sharedStatistics(),
          witness);
    }
    return new Worker(
        job.assignment(),
        network,
        Objective.of(graph),
        job.rule(),
        feed,
        transport,
        Expectation.BUCKET_BYTES,
        job.sharedStatistics(),
        witness);
  }

  private static Team team(Assignment assignment, Transport transport) {
    int worker = transport.worker();
    Split split = assignment.split(assignment.rankOf(worker));
    return Team.of(split, assignment.team(worker), transport);
  }

  private static Feed feed(Job job, Dataset samples) {
    Sampler sampler = new Sampler(samples.samples(), job.seed());
    return Feed.of(
        samples,
        (step, range) ->
            sampler.numbers(
                job.course().position(step, job.assignment()) + range.first(), range.count()));
  }

  private static Witness witness(Log log, int ownStage) {
    char update = Pass.UPDATE.letter().charAt(0);
    return (step, position, op) -> {
      if (op == Witness.BEHIND) {
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
    void with(Trainee worker, Optional<Dataset> heldOut) {
      record.of(worker);
      Course course = job.course();
      job.resumeFrom().ifPresent(folder -> resume(worker, Checkpoint.open(Path.of(folder))));
      long kept = course.first();
      long step = course.first();
      while (step < course.end() && lastStep.begins(step)) {
        step = flow(worker, step);
        if (course.evaluates(step - 1)) {
          evaluate(worker, step - 1, heldOut.orElseThrow());
        }
        if (course.keeps(step - 1)) {
          keep(worker, step - 1);
          kept = step;
        }
      }
      if (course.checkpointEvery() > 0 && kept < step) {
        keep(worker, step - 1);
      }
    }

    /** Runs a step, and those that it flows into; the step behind them. */
    private long flow(Trainee worker, long first) {
      int steps =
          job.assignment().flow().map(f -> job.course().flowing(first, f.round())).orElse(1);
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

    private void resume(Trainee worker, Checkpoint checkpoint) {
      worker.continueAfter(job.course().first());
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

    private void evaluate(Trainee worker, long step, Dataset heldOut) {
      log.at(step, 0, Place.HELD_OUT, stage, 0);
      Feed feed =
          Feed.of(
              heldOut,
              (none, range) ->
                  LongStream.range(range.first(), range.first() + range.count()).toArray());
      int count = Math.toIntExact(heldOut.samples());
      reporting.event(Reports.heldOut(step, worker.answer(feed, count, Objective.of(graph))));
    }

    /** Writes the stages that no worker before this one holds, with those who have parts. */
    private void keep(Trainee worker, long step) {
      for (int depth : worker.stages()) {
        int first = job.assignment().keeper(depth);
        boolean shared =
            job.assignment().inOnePlace() || job.assignment().sharding(depth) != Sharding.NOTHING;
        if (shared || job.assignment().team(number).contains(first)) {
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
