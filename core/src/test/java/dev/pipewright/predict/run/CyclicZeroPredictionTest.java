package dev.pipewright.predict.run;

import static dev.pipewright.predict.run.AsyncRuns.SLOT;
import static dev.pipewright.predict.run.AsyncRuns.busy;
import static dev.pipewright.predict.run.AsyncRuns.costs;
import static dev.pipewright.predict.run.AsyncRuns.runPrediction;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.schedule.cyclic.Cyclic;
import dev.pipewright.schedule.search.OpTimes;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** CDP with ZeRO, whose states migrate from worker to worker: messages and bytes by hand. */
class CyclicZeroPredictionTest {
  private static final double ROUNDING = 1e-9;

  private static AsyncPipeline migrating(int workers, Cyclic.Rule rule) {
    return new AsyncPipeline.CyclicDataParallel(new Cyclic(workers), Cyclic.Form.ZERO, rule);
  }

  /**
   * Seconds of messages at a rate of the parameters of a stage in a second, by worker, then stage.
   * Worker 0 gets a stage for a backward and a forward pass, or the other way round, from worker 1,
   * which gets it back for the passes that end a step: with momentum, and the sum of worker 0's
   * gradients. The version before goes along, unless no worker needs it: under the second rule only
   * worker 0's backward pass of the first stage does.
   */
  @Test
  void statesThatTravelTakeTheirMessages() {
    StageCosts costs = costs(2, 1000, new LayerTimes(0, 0, 0, 0), 0, 0);
    RunPrediction first = runPrediction(costs, migrating(2, Cyclic.Rule.V1));
    double[] everything = {2 + 1, 2 + 1, 2 + 1 + 1, 2 + 1 + 1};
    assertArrayEquals(everything, first.times().step().gradientPass(), ROUNDING);
    RunPrediction second = runPrediction(costs, migrating(2, Cyclic.Rule.V2));
    double[] fresh = {2 + 1, 2, 2 + 1, 2 + 1};
    assertArrayEquals(fresh, second.times().step().gradientPass(), ROUNDING);
    // Without computing a step takes as long as both stages, one after the other, to worker 1.
    assertEquals(4 + 4, first.simulatedStepSeconds(), 1e-4);
    assertEquals(3 + 3, second.simulatedStepSeconds(), 1e-4);
  }

  /** Worker 0 gives both stages away behind its last pass of each, worker 1 behind its update. */
  @Test
  void statesThatLeaveSlowThePassesBesideThem() {
    StageCosts costs = costs(2, 1000, new LayerTimes(0, 0, 0, 0), 0, 0);
    OpTimes idle = runPrediction(costs, migrating(2, Cyclic.Rule.V1)).times();
    OpTimes slowed = runPrediction(busy(costs), migrating(2, Cyclic.Rule.V1)).times();
    double all = 0;
    for (int stage = 0; stage < idle.stages(); stage++) {
      all += slowed.forward()[stage] - idle.forward()[stage];
      all += slowed.input()[stage] - idle.input()[stage];
      all += slowed.step().update()[stage] - idle.step().update()[stage];
    }
    double left =
        Arrays.stream(idle.step().gradientPass()).sum(); // each leaves whom it does not come to
    assertEquals(0.75 * left, all, ROUNDING);
  }

  /** What goes through memory, where that carries a thousand bytes in a microsecond. */
  @Test
  void allAddToOneSumAndAnUpdateMayLeaveAnOlderVersion() {
    StageCosts costs = costs(2, 1000, SLOT, 0, 0);
    for (Cyclic.Rule rule : Cyclic.Rule.values()) {
      var times = runPrediction(costs, migrating(2, rule)).times();
      double[] clearing = {4e-6, 4e-6, 3e-6, 3e-6};
      for (int stage = 0; stage < clearing.length; stage++) {
        double backward = times.input()[stage] + times.weight()[stage];
        assertEquals(1 + clearing[stage], backward, ROUNDING);
      }
      double[] copies = {2e-6, rule == Cyclic.Rule.V1 ? 2e-6 : 0}; // of worker 1, who updates
      assertEquals(copies[0], times.step().update()[2], ROUNDING);
      assertEquals(copies[1], times.step().update()[3], ROUNDING);
    }
  }

  /** A worker alone sends nothing; the first rule keeps a version more. */
  @Test
  void statesOfOneWorkerStay() {
    for (Cyclic.Rule rule : Cyclic.Rule.values()) {
      RunPrediction alone = runPrediction(costs(1, 1000, SLOT, 0, 0), migrating(1, rule));
      double versions = rule == Cyclic.Rule.V1 ? 2 : 1;
      assertEquals(2000 + versions * 1000, alone.peakBytes()[0], ROUNDING);
      assertEquals(0, alone.times().step().gradientPass()[0]);
    }
  }

  /**
   * Of two workers each has a stage at hand, and another one coming or leaving: parameters and
   * momentum, the sum of gradients, the version before, of 1000 bytes each, one in a second. Passes
   * take so long that stages come and go between them only.
   */
  @Test
  void aWorkerHasStatesOrReceivesOrSendsThem() {
    StageCosts costs = costs(2, 1000, new LayerTimes(1000, 1000, 0, 0), 0, 0);
    // Each asks for the other stage a pass ahead: worker 0 for three thousand bytes while its
    // backward pass has all four of the second, worker 1 for four while it updates the other.
    double[] first = runPrediction(costs, migrating(2, Cyclic.Rule.V1)).peakBytes();
    assertArrayEquals(new double[] {4000 + 3000, 4000 + 4000}, first, ROUNDING);
    // There is never an older version of the second, and of the first only from its update to
    // worker 0's backward pass.
    double[] second = runPrediction(costs, migrating(2, Cyclic.Rule.V2)).peakBytes();
    assertArrayEquals(new double[] {3000 + 3000, 3000 + 3000}, second, ROUNDING);
  }

  /**
   * The most of a pass is at its middle; what left when it began has left by then. Worker 1 asks
   * for all of the first stage behind the second's passes, and for all of the second when of the
   * first only the older version is left beside the newest.
   */
  @Test
  void passesMeetWhatIsThereInTheirMiddle() {
    StageCosts costs = costs(2, 1000, new LayerTimes(1000, 1000, 0, 0), 0, 3000);
    double[] peaks = runPrediction(costs, migrating(2, Cyclic.Rule.V1)).peakBytes();
    assertArrayEquals(new double[] {4000 + 3000 + 3000, 3000 + 4000 + 3000}, peaks, ROUNDING);
  }

  /** The same to a profile that says nothing of what layers need at work. */
  @Test
  void statesOnTheirWayWithoutWorkingMemory() {
    for (Cyclic.Rule rule : Cyclic.Rule.values()) {
      StageCosts costs = costs(2, 1000, SLOT, 100, 0);
      Profile known = costs.workload().profile();
      Profile silent =
          new Profile(
              known.provenance(),
              known.precision(),
              Collections.nCopies(2, known.sizes(0)),
              known.samples(),
              List.of(Collections.nCopies(2, SLOT)),
              List.of());
      StageCosts other =
          new StageCosts(
              new Workload(
                  costs.workload().chain(),
                  silent,
                  costs.workload().training(),
                  costs.workload().cluster()));
      AsyncPipeline asyncPipeline = migrating(2, rule);
      double[] wanted = runPrediction(costs, asyncPipeline).peakBytes();
      assertArrayEquals(wanted, runPrediction(other, asyncPipeline).peakBytes(), ROUNDING);
    }
  }
}
