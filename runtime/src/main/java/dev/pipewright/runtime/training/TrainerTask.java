package dev.pipewright.runtime.training;

import dev.pipewright.formats.BadInputException;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.runtime.data.Dataset;
import dev.pipewright.runtime.data.DatasetSpec;
import dev.pipewright.runtime.data.Sampler;
import dev.pipewright.runtime.data.Wanted;
import dev.pipewright.runtime.engine.Feed;
import dev.pipewright.runtime.engine.StepReport;
import dev.pipewright.runtime.engine.Witness;
import dev.pipewright.runtime.engine.Worker;
import dev.pipewright.runtime.launch.FlightRecorder;
import dev.pipewright.runtime.launch.Reporter;
import dev.pipewright.runtime.launch.WorkerTask;
import dev.pipewright.runtime.net.Network;
import dev.pipewright.runtime.net.Objective;
import dev.pipewright.runtime.transport.Transport;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import tools.jackson.databind.json.JsonMapper;

/** Trains as one of the workers. */
public final class TrainerTask implements WorkerTask {
  /** Gradients that are summed at once: what PyTorch's data parallelism takes, too. */
  private static final long BUCKET_BYTES = 25L << 20;

  private static final JsonMapper JSON = new JsonMapper();

  @Override
  public void run(String text, Transport transport, Reporter reporter) {
    Job job = Job.parse(text);
    LayerGraph graph = RunnableModel.of(job.model());
    Objective objective = Objective.of(graph);
    long before = ProcessMemory.now();
    Network network = new Network(Chain.of(graph), job.seed());
    Witness witness = witness(reporter.recorder());
    try (Worker worker =
        new Worker(
            job.assignment(),
            network,
            objective,
            job.rule(),
            feed(job, Wanted.of(graph, objective)),
            transport,
            BUCKET_BYTES,
            job.sharedStatistics(),
            witness)) {
      ProcessMemory.forgetPeak();
      for (long step = 0; step < job.steps(); step++) {
        StepReport report = worker.step(step);
        checkLoss(report);
        reporter.event(StepLine.of(report));
      }
    }
    reporter.event(memory(before));
  }

  private static String memory(long before) {
    return JSON.createObjectNode()
        .put("peak_bytes", ProcessMemory.peak())
        .put("bytes_before", before)
        .toString();
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

  private static Feed feed(Job job, Wanted wanted) {
    Dataset samples = DatasetSpec.parse(job.data()).open(wanted).training();
    Sampler sampler = new Sampler(samples.samples(), job.seed());
    return (step, range) ->
        samples.read(
            sampler.numbers(step * job.assignment().batch() + range.first(), range.count()));
  }

  private static Witness witness(FlightRecorder recorder) {
    char update = Pass.UPDATE.letter().charAt(0);
    return (step, position, op) -> {
      if (op == Witness.BEHIND) {
        recorder.at(step, position, update, 0, 0);
      } else {
        recorder.at(
            step,
            position,
            Schedule.pass(op).letter().charAt(0),
            Schedule.stage(op),
            Schedule.microBatch(op));
      }
    };
  }
}
