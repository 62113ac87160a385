package dev.pipewright.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Link;
import dev.pipewright.compare.Comparison.Item;
import dev.pipewright.compare.Comparison.Scope;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.execution.RecordedStep;
import dev.pipewright.execution.StealTime;
import dev.pipewright.execution.TrainingOutcome;
import dev.pipewright.execution.TrainingOutcome.Worker;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.predict.run.RunPrediction;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.units.Precision;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * Two layers on two workers and two micro-batches of one sample: a forward pass takes 2 s, a
 * backward pass 3 s, the update 1 s, a message 1 s. All figures by hand.
 */
class ComparisonTest {
  private static StageCosts costs() {
    List<LayerSizes> sizes = Collections.nCopies(2, new LayerSizes(1000, 500, 4000));
    List<LayerTimes> times = Collections.nCopies(2, new LayerTimes(2, 3, 1, 1));
    Profile profile =
        new Profile(
            new Provenance("by hand", "k", "", true),
            Precision.FP32,
            sizes,
            List.of(1),
            List.of(times));
    Chain chain = Chain.of(Samples.chain(2));
    var cluster = Samples.plain(List.of(Link.of(0, 1000)), 2);
    var training = new Training(Optimizer.SGD, Precision.FP32);
    return new StageCosts(new Workload(chain, profile, training, cluster));
  }

  private static Assignment assignment() {
    return new Assignment(
        OneForwardOneBackward.of(2, 2),
        List.of(StageLayers.keeping(0, 0), StageLayers.keeping(1, 1)),
        List.of(1, 1),
        2,
        false);
  }

  /** Rank 0: F0 F1 B0 B1. Rank 1: F0 B0 F1 B1. */
  private static final RecordedStep STEP =
      new RecordedStep(
          0,
          24,
          new double[][] {{10, 12, 14, 23}, {0, 15, 18, 20}},
          new double[][] {{10, 12, 20, 25}, {14, 15, 18, 20}},
          new double[][] {{12, 14, 23, 29}, {15, 18, 20, 24}},
          new double[] {29, 24},
          new double[] {30, 26});

  /** Of which only the time is looked at. */
  private static RecordedStep typical() {
    double[][] none = {{}, {}};
    return new RecordedStep(1, 36, none, none, none, new double[2], new double[2]);
  }

  private static Comparison comparison(boolean memory) {
    StageCosts costs = costs();
    TrainingOutcome outcome =
        new TrainingOutcome(
            List.of(),
            typical(),
            STEP,
            List.of(new Worker(0, 0, 30_000), new Worker(1, 1, 0)),
            List.of(),
            Optional.empty(),
            new StealTime(0.2),
            false);
    return Comparison.of(new RunPrediction(costs, assignment()), assignment(), outcome, memory);
  }

  private static Item item(Comparison comparison, Scope scope, String name) {
    return comparison.items().stream()
        .filter(item -> item.scope() == scope && item.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  private static void is(Item item, double predicted, double simulated, double measured) {
    assertEquals(predicted, item.predicted(), 1e-12, item.name());
    assertEquals(simulated, item.simulated(), 1e-12, item.name());
    assertEquals(measured, item.measured(), 1e-12, item.name());
  }

  /**
   * Alone: rank 0's forward passes end at 2 and 4; rank 1 has F0 3–5, B0 5–8, F1 8–10, B1 10–13; B0
   * of rank 0 runs 9–12, B1 14–17, the update until 18. The next step cannot begin before.
   */
  @Test
  void theStepIsPredictedSimulatedAndMeasured() {
    Comparison comparison = comparison(false);
    is(comparison.step(), 18, 18, 24);
    assertEquals(-0.25, comparison.step().simulatedError(), 1e-12);
    is(item(comparison, Scope.STEP, "median of all steps"), 18, 18, 36);
    is(item(comparison, Scope.STEP, "first op to last"), 18, 18, 20);
    double expected = 1 - 22.0 / 36;
    double measured = 1 - ((2 + 2 + 3 + 4 + 1) + (1 + 3 + 2 + 4 + 2)) / 40.0;
    is(item(comparison, Scope.STEP, "idle share"), expected, expected, measured);
  }

  /**
   * Means of stage 0: F 2, B 3.5, update 1; of stage 1: 1.5, 3.5, 2. Rank 1 has F0 2–3.5, B0 3.5–7,
   * F1 until 8.5, B1 until 12; so B1 of rank 0 runs 12–15.5 and its update until 16.5.
   */
  @Test
  void theIdealStepIsThatOfTheMeasuredOps() {
    Item ideal = item(comparison(false), Scope.STEP, "ops as measured, messages free");
    is(ideal, Double.NaN, 16.5, 20);
    assertEquals(16.5 / 20 - 1, ideal.simulatedError(), 1e-12);
  }

  @Test
  void stagesTakeWhatTheirOpsTake() {
    Comparison comparison = comparison(false);
    is(item(comparison, Scope.STAGE, "stage 0"), 11, 11, 12);
    is(item(comparison, Scope.STAGE, "stage 1"), 11, 11, 12);
  }

  @Test
  void opsAreMeans() {
    Comparison comparison = comparison(false);
    is(item(comparison, Scope.OP, "forward"), 2, 2, 7 / 4.0);
    is(item(comparison, Scope.OP, "backward"), 3, 3, 14 / 4.0);
    is(item(comparison, Scope.OP, "update"), 1, 1, 1.5);
  }

  /**
   * Rank 1 waits from 0 on for F0, which rank 0 ends at 12 and it has at 14; F1 was there. Rank 0
   * waits at 14 for B0, which ends at 18, until 20, and at 23 for B1, which ends at 24, until 25.
   */
  @Test
  void messagesCountWhereTheyAreWaitedFor() {
    Comparison comparison = comparison(false);
    is(item(comparison, Scope.EXCHANGE, "stage 0 to 1"), 1, 1, 2);
    is(item(comparison, Scope.EXCHANGE, "stage 1 to 0"), 1, 1, 2);
  }

  /** Weights and gradients take 8000 bytes; a micro-batch 500, on worker 1 with its input 1500. */
  @Test
  void memoryIsWhatIsHeldBeyondAnEmptyProcess() {
    Comparison comparison = comparison(true);
    is(item(comparison, Scope.MEMORY, "worker 0"), 9000, 9000, 30_000);
    is(item(comparison, Scope.MEMORY, "worker 1"), 9500, 9500, 0);
    assertTrue(comparison(false).items().stream().noneMatch(i -> i.scope() == Scope.MEMORY));
  }

  /** Two workers of a rank that end their last passes at 5 and 6 and have the sum at 8 and 9. */
  @Test
  void sumsOfGradientsCountFromTheLastPassOfTheLastWorker() {
    Assignment shared =
        new Assignment(
            OneForwardOneBackward.of(1, 1),
            List.of(StageLayers.keeping(0, 1)),
            List.of(2),
            2,
            false);
    RecordedStep step =
        new RecordedStep(
            0,
            9,
            new double[][] {{0, 2}, {0, 2}},
            new double[][] {{0, 2}, {0, 2}},
            new double[][] {{2, 5}, {2, 6}},
            new double[] {8, 9},
            new double[] {10, 10});
    Comparison comparison =
        Comparison.of(
            new RunPrediction(costs(), shared),
            shared,
            new TrainingOutcome(
                List.of(),
                step,
                step,
                List.of(),
                List.of(),
                Optional.empty(),
                new StealTime(0),
                false),
            false);
    Item sum = item(comparison, Scope.EXCHANGE, "gradients of stage 0");
    assertEquals(3, sum.measured(), 1e-12);
    assertEquals(8, sum.simulated(), 1e-12); // a ring of two sends all bytes once, at 1000 a second
    assertEquals(2 + 3.5 + 1.5, item(comparison, Scope.STAGE, "stage 0").measured(), 1e-12);
  }
}
