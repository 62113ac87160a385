package dev.pipewright.predict.paradl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import dev.pipewright.cost.PartShares;
import dev.pipewright.cost.Roofline;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.Workload;
import dev.pipewright.model.Layer;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.Setting.Exchange;
import dev.pipewright.predict.paradl.Setting.Formulas;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.units.Precision;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Strategies as plans: what must be equal, what must add up, and volumes counted by hand. */
class SplitEstimateTest {
  private static Setting setting(Workload workload, int group, Exchange exchange) {
    return new Setting(
        workload,
        1000,
        Formulas.CORRECTED,
        exchange,
        group == 0 ? OptionalInt.empty() : OptionalInt.of(group),
        OptionalInt.empty(),
        OptionalDouble.empty(),
        Optional.empty());
  }

  private static Predicted predicted(Setting setting, Strategy strategy, int devices, long batch) {
    return assertInstanceOf(
        Predicted.class, new ParadlOracle(setting).predict(strategy, devices, batch));
  }

  private static Predicted predicted(Workload workload, Strategy strategy, int devices) {
    return predicted(setting(workload, 0, Exchange.USUAL), strategy, devices, 24);
  }

  private static void same(Predicted expected, Predicted actual) {
    for (Phase phase : Phase.values()) {
      near(expected.phases().seconds(phase), actual.phases().seconds(phase));
    }
    near(expected.memory().total(), actual.memory().total());
  }

  private static void near(double expected, double actual) {
    assertEquals(expected, actual, 1e-12 * Math.abs(expected));
  }

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

  /** Seconds in which what has been gathered or summed is read and written. */
  private static double copied(Workload workload, double bytes) {
    return 2 * bytes / (0.7 * workload.cluster().device(0).memoryBandwidth().value());
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

  /** Σ|w| and Σ|bi| around one ring of eight; a quarter of them around four rings of two. */
  @Test
  void gradientsAreSummedWhereTheSameWeightsAre() {
    Workload workload =
        SmallNet.input(3, 8, 8).convolution(8, 3, 1, 1).connected(12).on(SmallNet.nodes(2, 1), 1);
    Setting ring = setting(workload, 0, Exchange.RING);
    double bytes = 4 * (3 * 9 * 8 + 8 + (512 + 1) * 12);
    near(
        2 * 7 * (1e-5 + bytes / 8 / 1e10),
        predicted(ring, Strategy.DATA, 8, 24).phases().seconds(Phase.GRADIENT_EXCHANGE));
    assertEquals(
        0, predicted(ring, Strategy.FILTER, 4, 24).phases().seconds(Phase.GRADIENT_EXCHANGE));
    Predicted hybrid = predicted(ring, Strategy.DATA_FILTER, 8, 24);
    near(
        2 * (1e-5 + 4 * (bytes / 4) / 2 / 1e10), // four rings share the port: φ = 4
        hybrid.phases().seconds(Phase.GRADIENT_EXCHANGE));
  }

  /** ParaDL §4.3: nodes of four devices with two ports. */
  @Test
  void fourRingsThatShareTwoPortsHaveAContentionOfTwo() {
    Workload workload = SmallNet.input(3, 8, 8).convolution(8, 3, 1, 1).on(SmallNet.nodes(2, 2), 1);
    Layout layout = Layout.of(Strategy.DATA_FILTER, 2, 4);
    for (Formulas formulas : Formulas.values()) {
      assertEquals(2, formulas(workload, formulas).estimate(layout, 24).contention());
    }
    Layout data = Layout.of(Strategy.DATA, 2, 1);
    assertEquals(
        1, formulas(workload, Formulas.CORRECTED).estimate(data, 24).contention(), "one ring");
  }

  private static StrategyFormulas formulas(Workload workload, Formulas which) {
    ParadlNetwork network = new ParadlNetwork(workload, Optional.empty());
    Setting setting = setting(workload, 0, Exchange.USUAL);
    return which == Formulas.PUBLISHED
        ? new PublishedFormulas(network, setting)
        : new PlanEstimate(network, setting);
  }

  /** Links without latency tell the bytes by the seconds. */
  private static Cluster bytesPerSecond(int devices) {
    Link link = Link.of(0, 1);
    List<Level> levels = List.of(new Level("node", link, link));
    return Cluster.uniform("slow", Samples.kind("k", 1L << 40, 1e13), levels, devices)
        .withSoftware(SmallNet.WITHOUT_OVERLAP);
  }

  /**
   * Positions of its neighbours that a part in the middle of the grid reads, one by one: rows
   * first, then columns with the corners that the rows have brought.
   */
  private static long positionsRead(int height, int width, int kernel, int rows, int columns) {
    int reach = kernel / 2;
    int top = height / rows;
    int left = width / columns;
    int bottom = 2 * height / rows;
    int right = 2 * width / columns;
    long count = 0;
    for (int y = 0; y < height; y++) {
      for (int x = 0; x < width; x++) {
        boolean inRows = top <= y && y < bottom;
        boolean inColumns = left <= x && x < right;
        boolean read =
            top - reach <= y && y < bottom + reach && left - reach <= x && x < right + reach;
        count += read && !(inRows && inColumns) ? 1 : 0;
      }
    }
    return count;
  }

  @RepeatedTest(value = 50, name = SmallNet.SEEDED)
  void halosAreThePositionsThatAPartReadsBeyondItsOwn(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int rows = random.nextInt(3, 5);
    int columns = random.nextInt(3, 5);
    int height = rows * random.nextInt(6, 9);
    int width = columns * random.nextInt(6, 9);
    int kernel = 2 * random.nextInt(0, 4) + 1;
    int channels = random.nextInt(1, 4);
    int filters = random.nextInt(1, 9);
    Workload workload =
        SmallNet.input(channels, height, width)
            .convolution(filters, kernel, 1, kernel / 2)
            .relu()
            .on(bytesPerSecond(rows * columns), 1);
    long batch = random.nextInt(1, 9);
    List<Integer> grid = List.of(rows, columns);
    Layout layout = Layout.spatial(Strategy.SPATIAL, 1, grid);
    double seconds =
        formulas(workload, Formulas.CORRECTED).estimate(layout, batch).phases().seconds(Phase.HALO);
    long positions = positionsRead(height, width, kernel, rows, columns);
    assertEquals((double) positions * channels * batch * 4, seconds, 1e-6);
  }

  /**
   * Two parts have one neighbour each: a row of x forward, and the gradients of it back where
   * anything needs them.
   */
  @Test
  void twoPartsExchangeOneBorder() {
    Workload workload =
        SmallNet.input(3, 8, 6)
            .convolution(5, 3, 1, 1)
            .convolution(2, 3, 1, 1)
            .on(bytesPerSecond(2), 1);
    Layout layout = Layout.spatial(Strategy.SPATIAL, 1, List.of(2, 1));
    Phases phases = formulas(workload, Formulas.CORRECTED).estimate(layout, 7).phases();
    assertEquals(7 * 4 * 6 * (3 + 2 * 5), phases.seconds(Phase.HALO), 1e-9);
  }

  /** Behind the last split layer once: three steps with a quarter of its output. */
  @Test
  void whatIsSplitIsGatheredOnce() {
    Workload workload =
        SmallNet.input(3, 8, 8)
            .convolution(6, 3, 1, 1)
            .relu()
            .connected(10)
            .connected(5)
            .on(bytesPerSecond(4), 1);
    Phases phases = predicted(workload, Strategy.SPATIAL, 4).phases();
    double output = 24 * 4 * 6 * 8 * 8;
    assertEquals(
        3.0 / 4 * output + copied(workload, output), phases.seconds(Phase.LAYER_ALL_GATHER), 1e-6);
    double convolution = 4 * (3 * 9 * 6 + 6); // connected layers' gradients are alike already
    assertEquals(2 * 3.0 / 4 * convolution, phases.seconds(Phase.GRADIENT_EXCHANGE), 1e-6);
  }

  @ParameterizedTest
  @EnumSource(names = {"ZERO1", "ZERO2", "ZERO3"})
  void shardedDataParallelismSendsAsMuchAndThePartOfItThatGathersWeights(Strategy strategy) {
    Workload workload =
        SmallNet.input(3, 8, 8).convolution(8, 3, 1, 1).connected(10).on(bytesPerSecond(8), 1);
    double numbers = 3 * 9 * 8 + 8 + (512 + 1) * 10;
    double part = Math.ceil(numbers / 8);
    Phases data = predicted(workload, Strategy.DATA, 8).phases();
    Phases sharded = predicted(workload, strategy, 8).phases();
    double factor = strategy == Strategy.ZERO3 ? 1.5 : 1;
    double seconds = factor * data.communication() * 8 * part / numbers;
    near(seconds, sharded.communication());
    near(data.seconds(Phase.WEIGHT_UPDATE) * part / numbers, sharded.seconds(Phase.WEIGHT_UPDATE));
    near(
        strategy == Strategy.ZERO3 ? 2 * 7 * 4 * part : 0, sharded.seconds(Phase.LAYER_ALL_GATHER));
  }

  /**
   * Adam's 16 or 18 bytes for each parameter over N = 8 devices (ZeRO, SC 2020, figure 1, whose
   * gradients have 16 bits: ours have 32). ZeRO-1: 6 + 12/8, ZeRO-2: 2 + 16/8, ZeRO-3: 18/8.
   */
  @ParameterizedTest
  @CsvSource({
    "FP32, DATA, 4, 4, 8",
    "FP32, ZERO1, 4, 4, 1",
    "FP32, ZERO2, 4, 0.5, 1",
    "FP32, ZERO3, 0.5, 0.5, 1",
    "BF16, DATA, 2, 4, 12",
    "BF16, ZERO1, 2, 4, 1.5",
    "BF16, ZERO2, 2, 0.5, 1.5",
    "BF16, ZERO3, 0.25, 0.5, 1.5",
    "FP16, ZERO1, 2, 4, 1.5",
    "TF32, ZERO2, 4, 0.5, 1"
  })
  void shardedStateIsDividedByTheDevices(
      Precision precision, Strategy strategy, double weight, double gradient, double optimizer) {
    SmallNet net = SmallNet.input(3, 8, 8).convolution(8, 3, 1, 1).connected(10);
    Training training = new Training(Optimizer.ADAM, precision);
    Workload workload = net.on(SmallNet.nodes(2, 1), 1, training);
    double numbers = 3 * 9 * 8 + 8 + (512 + 1) * 10;
    assertEquals(numbers, (double) workload.chain().graph().parameters());
    boolean sharded = strategy != Strategy.DATA;
    double parameters = sharded ? 8 * Math.ceil(numbers / 8) : numbers; // equal parts
    MemoryUse use = predicted(workload, strategy, 8).memory();
    near(parameters * weight, use.weights());
    near((strategy == Strategy.ZERO1 ? numbers : parameters) * gradient, use.gradients());
    near(parameters * optimizer, use.optimizer());
    double summed = 2 * parameters * 4; // a device's own gradients and what others send
    near(sharded ? summed - use.gradients() : 0, use.buffers());
  }

  @ParameterizedTest
  @EnumSource(names = {"RING", "TREE", "HIERARCHICAL", "LEADER", "CHEAPEST"})
  void noAlgorithmIsCheaperThanTheCheapest(Exchange exchange) {
    for (Strategy strategy : List.of(Strategy.DATA, Strategy.DATA_FILTER, Strategy.DATA_SPATIAL)) {
      Workload workload =
          SmallNet.input(3, 16, 16)
              .convolution(64, 5, 1, 2)
              .connected(200)
              .on(SmallNet.nodes(4, 1), 1);
      double cheapest =
          predicted(setting(workload, 0, Exchange.CHEAPEST), strategy, 16, 64).iterationSeconds();
      double other = predicted(setting(workload, 0, exchange), strategy, 16, 64).iterationSeconds();
      assertTrue(cheapest <= other * (1 + 1e-12), strategy + ": " + cheapest + " > " + other);
    }
  }
}
