package dev.pipewright.runtime.training;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.execution.Expectation;
import dev.pipewright.execution.ProfilingOutcome;
import dev.pipewright.execution.ProfilingRequest;
import dev.pipewright.execution.TrainingOutcome;
import dev.pipewright.execution.TrainingRequest;
import dev.pipewright.execution.TrainingRequest.Workers;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.Flow;
import dev.pipewright.plan.Sharding;
import dev.pipewright.runtime.profiler.Profiler;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.cyclic.Cyclic;
import dev.pipewright.units.Precision;
import dev.pipewright.zoo.Clusters;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The most memory that workers hold, as predicted from what layers were measured to need, against
 * what their processes take: a convolutional network whose maps need most, in as many strategies as
 * differ in what they hold.
 */
@Timeout(1800)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PredictedMemoryTest {
  private static final String MODEL = "cnn-64-128-256:size=32,classes=4";
  private static final int LAYERS = 11;
  private static final int CUT = 6; // layers of the first of two stages
  private static final int SLICE = 8;
  private static final double OFF = 0.1;

  @TempDir private Path folder;
  private StageCosts costs;

  @BeforeAll
  void measure() {
    ProfilingRequest request =
        new ProfilingRequest(
            MODEL,
            "synthetic",
            List.of(SLICE),
            1,
            1,
            1,
            Optimizer.MOMENTUM,
            List.of(),
            1 << 10,
            OptionalInt.empty(),
            false,
            "test");
    ProfilingOutcome outcome = new Profiler().profile(request, words -> {});
    Cluster cluster = Clusters.find("dapple-a:1x4").orElseThrow();
    Training training = new Training(Optimizer.MOMENTUM, Precision.FP32);
    Chain chain = Chain.of(outcome.graph());
    assertEquals(LAYERS, chain.size());
    costs = new StageCosts(new Workload(chain, outcome.profile(), training, cluster));
  }

  private void check(Assignment assignment) throws IOException {
    Path out = Files.createTempDirectory(folder, "run");
    Runs runs = new Runs(MODEL, assignment, Optimizer.MOMENTUM, Workers.PROCESSES, 6, 0);
    TrainingRequest request = runs.request(out, Optional.empty()).frugal(6);
    TrainingOutcome outcome = new Trainer().train(request, step -> {});
    double[] predicted = new Expectation(costs, assignment).peakBytes();
    for (TrainingOutcome.Worker worker : outcome.workers()) {
      double wanted = predicted[worker.rank()];
      assertEquals(wanted, (double) worker.peakBytes(), OFF * wanted, "worker " + worker.worker());
    }
  }

  private static Assignment replicas(Sharding sharding, int microBatches) {
    List<StageLayers> all = List.of(StageLayers.keeping(0, LAYERS - 1));
    int batch = 2 * SLICE * microBatches;
    return new Assignment(OneForwardOneBackward.of(1, microBatches), all, List.of(2), batch, true)
        .sharded(sharding);
  }

  @Test
  void replicas() throws IOException {
    check(replicas(Sharding.NOTHING, 1));
  }

  @Test
  void replicasThatShareTheirStatesOut() throws IOException {
    check(replicas(Sharding.GRADIENTS, 2));
    check(replicas(Sharding.PARAMETERS, 1));
  }

  @Test
  void statesThatGoFromWorkerToWorker() throws IOException {
    List<StageLayers> halves =
        List.of(StageLayers.keeping(0, CUT - 1), StageLayers.keeping(CUT, LAYERS - 1));
    Flow flow = new Flow.OneAfterAnother(new Cyclic(2), Cyclic.Form.ZERO, Cyclic.Rule.V2);
    check(Assignment.of(flow, halves, List.of(1, 1), 2 * SLICE));
  }
}
