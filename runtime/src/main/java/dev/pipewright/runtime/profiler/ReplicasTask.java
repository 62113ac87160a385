package dev.pipewright.runtime.profiler;

import dev.pipewright.execution.ProfilingOutcome.SumsInTraining;
import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.plan.Assignment;
import dev.pipewright.predict.run.RunPrediction;
import dev.pipewright.runtime.data.DatasetRequirements;
import dev.pipewright.runtime.engine.OpListener;
import dev.pipewright.runtime.engine.Worker;
import dev.pipewright.runtime.launch.QuietQuartile;
import dev.pipewright.runtime.launch.Reporter;
import dev.pipewright.runtime.launch.StealTimeClock;
import dev.pipewright.runtime.launch.WorkerTask;
import dev.pipewright.runtime.net.LossFunction;
import dev.pipewright.runtime.net.Network;
import dev.pipewright.runtime.training.RunnableModel;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.LocalTransport;
import dev.pipewright.runtime.transport.PassingTransport;
import dev.pipewright.runtime.transport.Transport;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Trains in three ways, to see what sums of gradients cost in training: each worker by itself, as
 * replicas that sum after the backward pass, and as replicas that overlap the sum with it. Takes
 * turns, and forgets the first round, so that none of them profits from code that another has had
 * compiled.
 */
public final class ReplicasTask implements WorkerTask {
  private static final JsonMapper JSON = new JsonMapper();
  private static final int ROUNDS = 3;
  private static final int WARM_UP = 2; // steps of each turn

  /** Steps of one of the ways. */
  private static final class Way {
    private final String name;
    private final Assignment assignment;
    private final boolean together;
    private final List<Double> seconds = new ArrayList<>();
    private final List<Long> stolen = new ArrayList<>();

    private Way(String name, Assignment assignment, boolean together) {
      this.name = name;
      this.assignment = assignment;
      this.together = together;
    }

    private void add(double step, long lost) {
      seconds.add(step);
      stolen.add(lost);
    }

    /** Seconds of an undisturbed step. */
    private double calm() {
      double[] all = seconds.stream().mapToDouble(Double::doubleValue).toArray();
      long[] lost = stolen.stream().mapToLong(Long::longValue).toArray();
      int[] shorter = QuietQuartile.shorter(all, lost);
      return all[shorter[shorter.length / 2]];
    }
  }

  @Override
  public void run(String text, Transport transport, Reporter reporter) {
    WholeJob job = WholeJob.parse(text);
    CoRunningLoad coRunning = new CoRunningLoad(transport);
    int workers = transport.workers();
    List<Way> ways =
        List.of(
            new Way("alone", job.assignment(), false),
            new Way("after", job.assignment(workers, false), true),
            new Way("beside", job.assignment(workers, true), true));
    for (int round = 0; round <= ROUNDS; round++) {
      for (Way way : ways) {
        Transport own =
            way.together ? new Renaming(transport, way.name + round) : LocalTransport.of(1).get(0);
        train(job, way, round > 0, own, coRunning);
      }
    }
    if (coRunning.measures()) {
      ObjectNode answer = JSON.createObjectNode();
      ways.forEach(way -> answer.put(way.name, way.calm()));
      reporter.event(answer.toString());
    }
  }

  /** Gives groups of several networks, which train one after the other, names of their own. */
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

  /** All workers begin each step at the same time. */
  private static void train(
      WholeJob job, Way way, boolean counts, Transport transport, CoRunningLoad coRunning) {
    LayerGraph graph = RunnableModel.of(job.model(), job.sequence());
    LossFunction objective = LossFunction.of(graph);
    try (Worker worker =
        new Worker(
            way.assignment,
            new Network(Chain.of(graph), WholeTask.SEED),
            objective,
            UpdateRule.usual(job.optimizer()),
            WholeTask.feed(job.data(), DatasetRequirements.of(graph, objective), way.assignment),
            transport,
            RunPrediction.BUCKET_BYTES,
            false,
            OpListener.NONE)) {
      for (int step = 0; step < WARM_UP + job.steps(); step++) {
        coRunning.meet();
        StealTimeClock others = new StealTimeClock();
        long begin = System.nanoTime();
        worker.step(step);
        double seconds = (System.nanoTime() - begin) / 1e9;
        if (counts && step >= WARM_UP) {
          way.add(seconds, others.ticks());
        }
      }
    }
  }
}
