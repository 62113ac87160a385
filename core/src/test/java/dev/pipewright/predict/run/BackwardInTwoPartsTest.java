package dev.pipewright.predict.run;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.cluster.Link;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.execution.Emulation.LayerSeconds;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Provenance;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.units.Precision;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Four layers without parameters, each of which takes 3 s for a whole backward pass, and in two
 * parts 2.25 s and 1.5 s. All figures by hand.
 */
class BackwardInTwoPartsTest {
  private static StageCosts costs() {
    LayerTimes times = new LayerTimes(2, 3, 2.25, 1.5, 0);
    Profile profile =
        new Profile(
            new Provenance("by hand", "k", "", true),
            Precision.FP32,
            Collections.nCopies(4, new LayerSizes(0, 0, 0)),
            List.of(1),
            List.of(Collections.nCopies(4, times)));
    Chain chain = Chain.of(Samples.chain(4));
    var cluster = Samples.plain(List.of(Link.of(0, 1e12)), 2);
    var training = new Training(Optimizer.SGD, Precision.FP32);
    return new StageCosts(new Workload(chain, profile, training, cluster));
  }

  private static RunPrediction runPrediction(Schedule schedule, int workers, ZeroStage sharding) {
    List<StageLayers> stages =
        schedule.ranks() == 1
            ? List.of(StageLayers.keeping(0, 3))
            : List.of(StageLayers.keeping(0, 1), StageLayers.keeping(2, 3));
    List<Integer> each = Collections.nCopies(schedule.ranks(), workers);
    int batch = schedule.microBatches() * workers;
    Assignment assignment = new Assignment(schedule, stages, each, batch, false).sharded(sharding);
    return new RunPrediction(costs(), assignment);
  }

  @Test
  void aScheduleThatSplitsThemPaysForBothParts() {
    OpTimes times = runPrediction(ZeroBubbleH1.of(2, 4), 1, ZeroStage.NOTHING).times();
    assertArrayEquals(new double[] {4.5, 4.5}, times.input());
    assertArrayEquals(new double[] {3, 3}, times.weight());
  }

  @Test
  void whatStaysWholeCostsWhatItDidWhole() {
    OpTimes times = runPrediction(OneForwardOneBackward.of(2, 4), 1, ZeroStage.NOTHING).times();
    assertArrayEquals(new double[] {6, 6}, times.input());
    assertArrayEquals(new double[] {0, 0}, times.weight());
  }

  @ParameterizedTest
  @EnumSource(
      value = ZeroStage.class,
      names = {"OPTIMIZER", "GRADIENTS", "PARAMETERS"})
  void workersThatShareStatesComputeAsLong(ZeroStage sharding) {
    OpTimes split = runPrediction(ZeroBubbleH1.of(1, 2), 2, sharding).times();
    assertEquals(9, split.input()[0], 1e-9);
    assertEquals(6, split.weight()[0], 1e-9);
    OpTimes whole = runPrediction(OneForwardOneBackward.of(1, 2), 2, sharding).times();
    assertEquals(12, whole.input()[0] + whole.weight()[0], 1e-9);
  }

  @Test
  void emulatedWorkersWaitAsLong() {
    LayerSeconds split = emulated(ZeroBubbleH1.of(2, 4));
    assertEquals(2.25, split.input());
    assertEquals(1.5, split.weight());
    LayerSeconds whole = emulated(OneForwardOneBackward.of(2, 4));
    assertEquals(3, whole.backward());
  }

  private static LayerSeconds emulated(Schedule schedule) {
    return runPrediction(schedule, 1, ZeroStage.NOTHING).layers().layers().get(0);
  }
}
