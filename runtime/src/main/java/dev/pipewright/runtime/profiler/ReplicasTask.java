package dev.pipewright.runtime.profiler;

import dev.pipewright.execution.Expectation;
import dev.pipewright.execution.ProfilingOutcome.Spread;
import dev.pipewright.execution.ProfilingOutcome.SumsInTraining;
import dev.pipewright.execution.TrainingRequest.UpdateRule;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.plan.Assignment;
import dev.pipewright.runtime.data.Wanted;
import dev.pipewright.runtime.engine.Witness;
import dev.pipewright.runtime.engine.Worker;
import dev.pipewright.runtime.launch.Calmest;
import dev.pipewright.runtime.launch.Reporter;
import dev.pipewright.runtime.launch.StolenClock;
import dev.pipewright.runtime.launch.WorkerTask;
import dev.pipewright.runtime.net.Network;
import dev.pipewright.runtime.net.Objective;
import dev.pipewright.runtime.training.RunnableModel;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.LocalTransport;
import dev.pipewright.runtime.transport.PassingTransport;
import dev.pipewright.runtime.transport.Transport;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Trains in three ways, to see what sums of gradients cost in training: each worker by itself, as
 * replicas that sum behind the backward pass, and as replicas that sum beside it.
 */
public final class ReplicasTask implements WorkerTask {
  private static final JsonMapper JSON = new JsonMapper();
  private static final int WARM_UP = 3;

  @Override
  public void run(String text, Transport transport, Reporter reporter) {
    WholeJob job = WholeJob.parse(text);
    Company company = new Company(transport);
    int workers = transport.workers();
    double alone = seconds(job, job.assignment(), LocalTransport.of(1).get(0), company);
    Transport first = new Renaming(transport, "after");
    Transport second = new Renaming(transport, "beside");
    double after = seconds(job, job.assignment(workers, false), first, company);
    double beside = seconds(job, job.assignment(workers, true), second, company);
    if (company.measures()) {
      reporter.event(
          JSON.createObjectNode()
              .put("alone", alone)
              .put("after", after)
              .put("beside", beside)
              .toString());
    }
  }

  /** Of several networks that train one after the other; names of groups are used once. */
  private record Renaming(Transport through, String network) implements PassingTransport {
    @Override
    public Group group(String name, List<Integer> members) {
      return through.group(network + "/" + name, members);
    }

    @Override
    public void close() {
      // the transport goes on
    }
  }

  /** What the task's event says. */
  static SumsInTraining parse(String text, int workers, int samples) {
    JsonNode answer = JSON.readTree(text);
    return new SumsInTraining(
        workers,
        samples,
        answer.get("alone").asDouble(),
        answer.get("after").asDouble(),
        answer.get("beside").asDouble());
  }

  /** A step of all workers at the same time; the median of the calmest. */
  private static double seconds(
      WholeJob job, Assignment assignment, Transport transport, Company company) {
    LayerGraph graph = RunnableModel.of(job.model());
    Objective objective = Objective.of(graph);
    double[] seconds = new double[job.steps()];
    long[] stolen = new long[seconds.length];
    try (Worker worker =
        new Worker(
            assignment,
            new Network(Chain.of(graph), WholeTask.SEED),
            objective,
            UpdateRule.usual(job.optimizer()),
            WholeTask.feed(job.data(), Wanted.of(graph, objective), assignment),
            transport,
            Expectation.BUCKET_BYTES,
            false,
            Witness.NONE)) {
      for (int step = -WARM_UP; step < seconds.length; step++) {
        company.meet();
        StolenClock others = new StolenClock();
        long begin = System.nanoTime();
        worker.step(WARM_UP + step);
        if (step >= 0) {
          seconds[step] = (System.nanoTime() - begin) / 1e9;
          stolen[step] = others.ticks();
        }
      }
    }
    return Spread.of(Calmest.of(seconds, stolen)).median();
  }
}
