package dev.pipewright.predict.paradl;

import static dev.pipewright.predict.paradl.StrategyEstimates.copied;
import static dev.pipewright.predict.paradl.StrategyEstimates.near;
import static dev.pipewright.predict.paradl.StrategyEstimates.predicted;
import static dev.pipewright.predict.paradl.StrategyEstimates.same;
import static dev.pipewright.predict.paradl.StrategyEstimates.setting;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.PartShares;
import dev.pipewright.cost.Roofline;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Layer;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.Setting.Exchange;
import dev.pipewright.profile.Profile.LayerTimes;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/** Strategies as plans: what must be equal, and what must add up. */
class SplitEstimateTest {
  private static Workload random(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    return SmallNet.random(random).on(SmallNet.nodes(4, 2), random.nextLong());
  }

  @RepeatedTest(value = 50, name = SmallNet.SEEDED)
  void onOneDeviceAllStrategiesAreSerial(RepetitionInfo seed) {
    Workload workload = random(seed);
    Predicted serial = predicted(workload, Strategy.SERIAL, 1);
    near(24 * sum(workload), serial.phases().seconds(Phase.FORWARD_BACKWARD));
    for (Strategy strategy : Strategy.values()) {
      if (strategy.dividesBlocks()) {
        continue; // there are none here
      }
      if (strategy.accumulates()) {
        near(serial.iterationSeconds(), predicted(workload, strategy, 1).iterationSeconds());
      } else {
        same(serial, predicted(workload, strategy, 1));
      }
    }
  }

  private static double sum(Workload workload) {
    return workload.profile().times(0).stream().mapToDouble(t -> t.forward() + t.backward()).sum();
  }

  @RepeatedTest(value = 20, name = SmallNet.SEEDED)
  void aHybridOfOneGroupIsItsStrategyAndOfGroupsOfOneIsDataParallel(RepetitionInfo seed) {
    Workload workload = random(seed);
    Setting four = setting(workload, 4, Exchange.USUAL);
    Setting one = setting(workload, 1, Exchange.USUAL);
    Predicted data = predicted(workload, Strategy.DATA, 4);
    same(predicted(workload, Strategy.FILTER, 4), predicted(four, Strategy.DATA_FILTER, 4, 24));
    same(predicted(workload, Strategy.CHANNEL, 4), predicted(four, Strategy.DATA_CHANNEL, 4, 24));
    same(predicted(workload, Strategy.SPATIAL, 4), predicted(four, Strategy.DATA_SPATIAL, 4, 24));
    for (Strategy hybrid :
        List.of(Strategy.DATA_FILTER, Strategy.DATA_CHANNEL, Strategy.DATA_SPATIAL)) {
      same(data, predicted(one, hybrid, 4, 24));
    }
  }

  /** As many channels as filters, as much read as written: splitting either is the same. */
  @Test
  void filtersAndChannelsOfASymmetricLayerCostTheSame() {
    Workload workload =
        SmallNet.input(8, 12, 12)
            .convolution(8, 3, 1, 1)
            .convolution(8, 3, 1, 1, false)
            .on(SmallNet.nodes(1, 1), 1);
    Optional<List<Boolean>> second = Optional.of(List.of(false, false, true));
    Setting usual = setting(workload, 0, Exchange.RING);
    Setting setting =
        new Setting(
            workload,
            1000,
            usual.formulas(),
            usual.exchange(),
            usual.groupSize(),
            usual.segments(),
            usual.memoryReuse(),
            second);
    Predicted filter = predicted(setting, Strategy.FILTER, 4, 24);
    Predicted channel = predicted(setting, Strategy.CHANNEL, 4, 24);
    same(filter, channel);
    double bytes = 24 * 8 * 12 * 12 * 4; // y, and x as large
    double ring = 3 * (2e-6 + bytes / 4 / 4e10);
    near(ring + copied(workload, bytes), filter.phases().seconds(Phase.LAYER_ALL_GATHER));
    near(2 * ring + copied(workload, bytes), filter.phases().seconds(Phase.LAYER_ALL_REDUCE));
  }

  /** 10 filters on 4 devices: three for the busiest, which everybody waits for. */
  @Test
  void anUnequalDivisionIsChargedToTheLargestPart() {
    Workload workload =
        SmallNet.input(3, 8, 8).convolution(10, 3, 1, 1).on(SmallNet.nodes(1, 1), 1);
    Predicted filter = predicted(workload, Strategy.FILTER, 4);
    near(
        partSeconds(workload, 1, 24, new PartShares(0.3, 1, 1)),
        filter.phases().seconds(Phase.FORWARD_BACKWARD));
    near(
        0.3 * workload.profile().times(0).get(1).update(),
        filter.phases().seconds(Phase.WEIGHT_UPDATE));
    double parameters = 4 * (3 * 9 * 10 + 10);
    near(0.3 * parameters, filter.memory().weights());
    Predicted data = predicted(setting(workload, 0, Exchange.USUAL), Strategy.DATA, 4, 10);
    near(
        partSeconds(workload, 1, 3, PartShares.WHOLE),
        data.phases().seconds(Phase.FORWARD_BACKWARD));
  }

  /** The layer's time, divided as the roofline divides its own at the profile's slice. */
  private static double partSeconds(
      Workload workload, int number, double samples, PartShares part) {
    Layer layer = workload.chain().graph().layer(number);
    double read = 0;
    for (int from : workload.chain().graph().predecessors(number)) {
      read += workload.chain().graph().layer(from).outputElements();
    }
    Roofline roofline = new Roofline(workload.cluster(), workload.training());
    int slice = workload.profile().samples().get(0);
    LayerTimes some = roofline.partTimes(layer, slice, part, read);
    LayerTimes all = roofline.partTimes(layer, slice, PartShares.WHOLE, read);
    LayerTimes made = workload.profile().times(0).get(number);
    double share = (some.forward() + some.backward()) / (all.forward() + all.backward());
    return samples * (made.forward() + made.backward()) * share;
  }

  @RepeatedTest(value = 50, name = SmallNet.SEEDED)
  void aPartOfALayerTakesNoLessThanItsShareOfTheWork(RepetitionInfo seed) {
    Workload workload = random(seed);
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    for (int layer = 1; layer < workload.chain().graph().size(); layer++) {
      double whole = partSeconds(workload, layer, 8, PartShares.WHOLE);
      double share = random.nextDouble(0.1, 1);
      boolean product = workload.chain().graph().layer(layer).work().weightGradient() > 0;
      PartShares part = product ? new PartShares(share, 1, 1) : new PartShares(1, 1, share);
      double some = partSeconds(workload, layer, 8, part);
      assertTrue(share * whole <= some * (1 + 1e-12), some + " of " + whole);
      assertTrue(some <= whole * (1 + 1e-12), some + " of " + whole);
    }
  }

  /** Filters and positions: the devices together take no less than one would. */
  @RepeatedTest(value = 50, name = SmallNet.SEEDED)
  void noWorkIsLostByDividingIt(RepetitionInfo seed) {
    Workload workload = random(seed);
    double serial = predicted(workload, Strategy.SERIAL, 1).phases().compute();
    for (Strategy strategy : Strategy.values()) {
      for (int devices : new int[] {2, 3, 4}) {
        Prediction prediction =
            new ParadlOracle(setting(workload, 0, Exchange.USUAL)).predict(strategy, devices, 24);
        if (prediction instanceof Predicted predicted) {
          double together = devices * predicted.phases().compute();
          assertTrue(together >= serial * (1 - 1e-12), strategy + " on " + devices);
        }
      }
    }
  }
}
