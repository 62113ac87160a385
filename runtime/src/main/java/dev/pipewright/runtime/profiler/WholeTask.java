package dev.pipewright.runtime.profiler;

import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.plan.Assignment;
import dev.pipewright.runtime.data.Dataset;
import dev.pipewright.runtime.data.DatasetRequirements;
import dev.pipewright.runtime.data.DatasetSpec;
import dev.pipewright.runtime.data.Sampler;
import dev.pipewright.runtime.engine.Feed;
import dev.pipewright.runtime.engine.OpListener;
import dev.pipewright.runtime.engine.StepReport;
import dev.pipewright.runtime.engine.Worker;
import dev.pipewright.runtime.launch.Reporter;
import dev.pipewright.runtime.launch.StealTimeClock;
import dev.pipewright.runtime.launch.WorkerTask;
import dev.pipewright.runtime.net.LossFunction;
import dev.pipewright.runtime.net.Network;
import dev.pipewright.runtime.training.RunnableModel;
import dev.pipewright.runtime.training.StepMemory;
import dev.pipewright.runtime.transport.LocalTransport;
import dev.pipewright.runtime.transport.Transport;
import dev.pipewright.schedule.Schedule;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Trains for a few steps as the engine does, and reports how long each took and what it held. Where
 * there are more workers than one that holds the whole network, the others compute as well.
 */
public final class WholeTask implements WorkerTask {
  private static final JsonMapper JSON = new JsonMapper();
  static final long SEED = 1;

  /** Indices of what it reports of a step's ops. */
  static final int FORWARD = 0;

  static final int BACKWARD = 1; // or its first part
  static final int WEIGHT_GRADIENT = 2; // its second part
  static final int UPDATE = 3;

  @Override
  public void run(String text, Transport transport, Reporter reporter) {
    WholeJob job = WholeJob.parse(text);
    LongSupplier clock = Clocks.of(job.processorTime());
    LayerGraph graph = RunnableModel.of(job.model(), job.sequence());
    LossFunction objective = LossFunction.of(graph);
    StepMemory memory = StepMemory.ofRun(0, job.steps());
    boolean whole = job.layers().size() == 1;
    try (Worker worker =
        new Worker(
            job.assignment(),
            new Network(Chain.of(graph), SEED),
            objective,
            UpdateRule.usual(job.optimizer()),
            feed(job.data(), DatasetRequirements.of(graph, objective), job.assignment()),
            whole ? LocalTransport.of(1).get(0) : transport,
            Long.MAX_VALUE,
            false,
            memory.beside(OpListener.NONE))) {
      CoRunningLoad coRunning = new CoRunningLoad(transport);
      coRunning.meet();
      if (coRunning.measures() || !whole) {
        reporter.event(measured(job, worker, memory, clock));
      } else {
        AtomicLong step = new AtomicLong();
        coRunning.keep(() -> worker.step(step.getAndIncrement()));
      }
      if (coRunning.measures() && whole) {
        coRunning.dismiss();
      }
    }
  }

  private static String measured(
      WholeJob job, Worker worker, StepMemory memory, LongSupplier clock) {
    ObjectNode answer = JSON.createObjectNode();
    ArrayNode seconds = answer.putArray("seconds");
    ArrayNode stolen = answer.putArray("stolen");
    ArrayNode ops = answer.putArray("ops");
    for (int step = 0; step < job.steps(); step++) {
      StealTimeClock others = new StealTimeClock();
      long begin = clock.getAsLong();
      StepReport report = worker.step(step);
      seconds.add((clock.getAsLong() - begin) / 1e9);
      stolen.add(others.ticks());
      ArrayNode own = ops.addArray();
      Arrays.stream(passes(job.assignment(), report)).forEach(own::add);
      memory.over(step, worker);
    }
    return answer.put("peak", memory.bytes()).toString();
  }

  /**
   * Seconds of the first rank's passes of each kind after the first micro-batch, and of its update.
   */
  private static double[] passes(Assignment assignment, StepReport report) {
    long[] program = assignment.schedule().packed(0);
    double[] seconds = new double[UPDATE + 1];
    for (int position = 0; position < program.length; position++) {
      if (Schedule.microBatch(program[position]) > 0) {
        int kind =
            switch (Schedule.pass(program[position])) {
              case FORWARD -> FORWARD;
              case BACKWARD_WEIGHT -> WEIGHT_GRADIENT;
              default -> BACKWARD;
            };
        seconds[kind] += (report.ended()[position] - report.started()[position]) / 1e9;
      }
    }
    seconds[UPDATE] = (report.updateEnded() - report.updateStarted()) / 1e9;
    return seconds;
  }

  /** The samples of an assignment, of which each step has others. */
  static Feed feed(String data, DatasetRequirements wanted, Assignment assignment) {
    Dataset samples = DatasetSpec.parse(data).open(wanted).training();
    Sampler sampler = new Sampler(samples.samples(), SEED);
    return Feed.of(
        samples,
        (step, range) -> sampler.numbers(step * assignment.batch() + range.first(), range.count()));
  }
}
