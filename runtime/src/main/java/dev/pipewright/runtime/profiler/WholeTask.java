package dev.pipewright.runtime.profiler;

import dev.pipewright.execution.TrainingRequest.UpdateRule;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.plan.Assignment;
import dev.pipewright.runtime.data.Dataset;
import dev.pipewright.runtime.data.DatasetSpec;
import dev.pipewright.runtime.data.Sampler;
import dev.pipewright.runtime.data.Wanted;
import dev.pipewright.runtime.engine.Feed;
import dev.pipewright.runtime.engine.Witness;
import dev.pipewright.runtime.engine.Worker;
import dev.pipewright.runtime.launch.Reporter;
import dev.pipewright.runtime.launch.WorkerTask;
import dev.pipewright.runtime.net.Network;
import dev.pipewright.runtime.net.Objective;
import dev.pipewright.runtime.training.RunnableModel;
import dev.pipewright.runtime.training.StepMemory;
import dev.pipewright.runtime.transport.Transport;
import java.util.function.LongSupplier;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Trains for a few steps as the engine does, and tells how long each took and what it held. */
public final class WholeTask implements WorkerTask {
  private static final JsonMapper JSON = new JsonMapper();
  private static final long SEED = 1;

  @Override
  public void run(String text, Transport transport, Reporter reporter) {
    WholeJob job = WholeJob.parse(text);
    LongSupplier clock = Clocks.of(job.processorTime());
    LayerGraph graph = RunnableModel.of(job.model());
    Objective objective = Objective.of(graph);
    StepMemory memory = StepMemory.ofRun(0, job.steps());
    ObjectNode answer = JSON.createObjectNode();
    ArrayNode seconds = answer.putArray("seconds");
    try (Worker worker =
        new Worker(
            job.assignment(),
            new Network(Chain.of(graph), SEED),
            objective,
            UpdateRule.usual(job.optimizer()),
            feed(job, Wanted.of(graph, objective)),
            transport,
            Long.MAX_VALUE,
            false,
            memory.beside(Witness.NONE))) {
      for (int step = 0; step < job.steps(); step++) {
        long begin = clock.getAsLong();
        worker.step(step);
        seconds.add((clock.getAsLong() - begin) / 1e9);
        memory.over(step, worker);
      }
    }
    answer.put("peak", memory.bytes());
    reporter.event(answer.toString());
  }

  private static Feed feed(WholeJob job, Wanted wanted) {
    Dataset samples = DatasetSpec.parse(job.data()).open(wanted).training();
    Sampler sampler = new Sampler(samples.samples(), SEED);
    Assignment assignment = job.assignment();
    return (step, range) ->
        samples.read(sampler.numbers(step * assignment.batch() + range.first(), range.count()));
  }
}
