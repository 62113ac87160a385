package dev.pipewright.runtime.training;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.execution.TrainingOutcome;
import dev.pipewright.execution.TrainingRequest;
import dev.pipewright.execution.TrainingRequest.Workers;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.predict.run.RunPrediction;
import dev.pipewright.profile.Profile;
import dev.pipewright.runtime.profiler.LayerProfiles;
import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.schedule.GPipe;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.schedule.cyclic.Cyclic;
import dev.pipewright.units.Precision;
import dev.pipewright.zoo.Clusters;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * The most memory that workers hold, as predicted from what layers were measured to need, against
 * what their processes take: a convolutional network whose maps need most, and a language model of
 * which the scores of its words do and the table of these, which is read twice; in as many
 * strategies as differ in what they hold.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PredictedMemoryTest {
  private static final String MAPS = "cnn-64-128-256:size=32,classes=4";
  private static final String WORDS =
      "gpt:layers=2,hidden=128,heads=4,sequence=64,vocabulary=20000";
  private static final String OWN_HEAD =
      "gpt-untied:layers=2,hidden=128,heads=4,sequence=64,vocabulary=20000";
  private static final String DECODER =
      "llama:layers=2,hidden=128,heads=4,kv-heads=2,ffn=384,sequence=128,vocabulary=8000";
  private static final String EXPERTS =
      "mixtral:layers=2,hidden=128,heads=4,kv-heads=2,ffn=384,sequence=128,vocabulary=8000,experts=4,chosen=2";
  private static final int CUT = 6; // layers of the first of two stages
  private static final int SLICE = 8;
  private static final int STEPS = 4; // from the second on all hold the same
  private static final double OFF = 0.1;

  @TempDir private Path folder;
  private final Map<String, StageCosts> costs = new HashMap<>(); // by model

  @BeforeAll
  void measure() {
    Torch.startAlone(1); // with the kernels that worker processes use
    costs.put(MAPS, measured(MAPS, SLICE));
    costs.put(WORDS, measured(WORDS, 2));
    costs.put(OWN_HEAD, measured(OWN_HEAD, 2));
    costs.put(DECODER, measured(DECODER, 2));
    costs.put(EXPERTS, measured(EXPERTS, 2));
    Torch.start(1);
  }

  private static StageCosts measured(String model, int samples) {
    Profile profile = LayerProfiles.withoutTimes(model, samples);
    Cluster cluster = Clusters.find("dapple-a:1x4").orElseThrow();
    Training training = new Training(Optimizer.MOMENTUM, Precision.FP32);
    Chain chain = Chain.of(RunnableModel.toCompute(model, OptionalInt.empty()));
    return new StageCosts(new Workload(chain, profile, training, cluster));
  }

  private StageCosts costs(String model) {
    return Objects.requireNonNull(costs.get(model));
  }

  private void check(String model, Assignment assignment) throws IOException {
    Path out = Files.createTempDirectory(folder, "run");
    Runs runs = new Runs(model, assignment, Optimizer.MOMENTUM, Workers.PROCESSES, STEPS, 0);
    TrainingRequest request = runs.request(out, Optional.empty()).frugal(STEPS);
    TrainingOutcome outcome = new Trainer().train(request, step -> {});
    double[] predicted = new RunPrediction(costs(model), assignment).peakBytes();
    for (TrainingOutcome.Worker worker : outcome.workers()) {
      double wanted = predicted[worker.rank()];
      assertEquals(wanted, (double) worker.peakBytes(), OFF * wanted, "worker " + worker.worker());
    }
  }

  private Assignment replicas(String model, int slice, ZeroStage sharding, int microBatches) {
    List<StageLayers> all = List.of(StageLayers.keeping(0, costs(model).size() - 1));
    int batch = 2 * slice * microBatches;
    return new Assignment(OneForwardOneBackward.of(1, microBatches), all, List.of(2), batch, true)
        .sharded(sharding);
  }

  @Test
  void replicas() throws IOException {
    check(MAPS, replicas(MAPS, SLICE, ZeroStage.NOTHING, 1));
    check(WORDS, replicas(WORDS, 2, ZeroStage.NOTHING, 1));
  }

  @Test
  void replicasThatShareTheirStatesOut() throws IOException {
    check(MAPS, replicas(MAPS, SLICE, ZeroStage.GRADIENTS, 2));
    check(MAPS, replicas(MAPS, SLICE, ZeroStage.PARAMETERS, 1));
  }

  private List<StageLayers> halves(String model, int cut) {
    return List.of(
        StageLayers.keeping(0, cut - 1), StageLayers.keeping(cut, costs(model).size() - 1));
  }

  @Test
  void stagesThatHaveOneTable() throws IOException {
    List<StageLayers> halves = halves(WORDS, 2);
    Schedule whole = OneForwardOneBackward.of(2, 3);
    Assignment assignment = new Assignment(whole, halves, List.of(1, 1), 6, true);
    check(WORDS, assignment);
    check(WORDS, assignment.sharded(ZeroStage.OPTIMIZER));
    check(WORDS, new Assignment(ZeroBubbleH1.of(2, 3), halves, List.of(1, 1), 6, true));
  }

  /** What it keeps is held in addition while the others are recomputed. */
  @Test
  void theLastMicroBatchThatIsNotRecomputed() throws IOException {
    Assignment kept = recomputing(Recompute.EXCEPT_LAST);
    double predicted = predicted(kept);
    assertTrue(predicted > (1 + 2 * OFF) * predicted(recomputing(Recompute.STAGE_INPUT)));
    assertTrue(predicted < (1 - 2 * OFF) * predicted(recomputing(Recompute.NONE)));
    check(MAPS, kept);
  }

  private Assignment recomputing(Recompute recompute) {
    LayerRange all = new LayerRange(0, costs(MAPS).size() - 1);
    List<StageLayers> whole = List.of(new StageLayers(all, recompute, List.of()));
    return new Assignment(GPipe.of(1, 4), whole, List.of(1), 4 * SLICE, false);
  }

  private double predicted(Assignment assignment) {
    return new RunPrediction(costs(MAPS), assignment).peakBytes()[0];
  }

  /** Workers that have some of the words hold their rows of the tables and their scores. */
  @Test
  void wordsThatAreDivided() throws IOException {
    Parallelism two = Parallelism.of(Parallelism.Kind.TENSOR, 2);
    Parallelism three = Parallelism.of(Parallelism.Kind.TENSOR, 3);
    int last = costs(OWN_HEAD).size() - 1;
    List<StageLayers> all = List.of(StageLayers.keeping(0, last).with(three));
    check(OWN_HEAD, new Assignment(OneForwardOneBackward.of(1, 2), all, List.of(3), 4, true));
    List<StageLayers> halves = halves(OWN_HEAD, 2).stream().map(stage -> stage.with(two)).toList();
    check(OWN_HEAD, new Assignment(OneForwardOneBackward.of(2, 3), halves, List.of(2, 2), 6, true));
    check(OWN_HEAD, new Assignment(ZeroBubbleH1.of(2, 3), halves, List.of(2, 2), 6, true));
  }

  @Test
  void decodersOfOtherShapes() throws IOException {
    for (String model : List.of(DECODER, EXPERTS)) {
      check(model, replicas(model, 2, ZeroStage.NOTHING, 1));
      Schedule schedule = OneForwardOneBackward.of(2, 3);
      check(model, new Assignment(schedule, halves(model, 2), List.of(1, 1), 6, true));
      check(model, divided(model, Parallelism.Kind.TENSOR));
    }
  }

  private Assignment divided(String model, Parallelism.Kind kind) {
    return divided(model, Parallelism.of(kind, 2));
  }

  private Assignment divided(String model, Parallelism split) {
    int last = costs(model).size() - 1;
    List<StageLayers> all = List.of(StageLayers.keeping(0, last).with(split));
    List<Integer> workers = List.of(split.parts());
    return new Assignment(OneForwardOneBackward.of(1, 2), all, workers, 4, true);
  }

  /**
   * Workers that have some of the tokens hold all parameters but experts, and keys of all tokens.
   */
  @Test
  void tokensThatAreDivided() throws IOException {
    for (String model : List.of(OWN_HEAD, WORDS, DECODER, EXPERTS)) {
      check(model, divided(model, Parallelism.Kind.CONTEXT));
    }
    check(EXPERTS, divided(EXPERTS, Parallelism.Kind.EXPERT));
    check(EXPERTS, divided(EXPERTS, Parallelism.ofWholeSequences(2)));
    check(EXPERTS, divided(EXPERTS, Parallelism.ofExpertCopies(2, 2)));
    check(OWN_HEAD, divided(OWN_HEAD, Parallelism.ofCopies(2, 2)));
  }

  @Test
  void statesThatGoFromWorkerToWorker() throws IOException {
    AsyncPipeline asyncPipeline =
        new AsyncPipeline.CyclicDataParallel(new Cyclic(2), Cyclic.Form.ZERO, Cyclic.Rule.V2);
    check(MAPS, Assignment.of(asyncPipeline, halves(MAPS, CUT), List.of(1, 1), 2 * SLICE));
  }
}
