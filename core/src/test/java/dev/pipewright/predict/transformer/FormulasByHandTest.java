package dev.pipewright.predict.transformer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.model.transformer.AttentionShape.GroupedQuery;
import dev.pipewright.model.transformer.FeedForwardShape.Dense;
import dev.pipewright.model.transformer.FeedForwardShape.Mixture;
import dev.pipewright.model.transformer.HeadPart;
import dev.pipewright.model.transformer.InputShape.Positions;
import dev.pipewright.model.transformer.InputShape.Words;
import dev.pipewright.model.transformer.LayerShape;
import dev.pipewright.model.transformer.NormShape;
import dev.pipewright.model.transformer.StackShape;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.predict.transformer.CalibratedConstants.Errors;
import dev.pipewright.predict.transformer.CalibratedConstants.HiddenRange;
import dev.pipewright.predict.transformer.CalibratedConstants.LogInterval;
import dev.pipewright.predict.transformer.NumberFormats.Products;
import dev.pipewright.predict.transformer.NumberFormats.StateBytes;
import dev.pipewright.predict.transformer.TransformerRun.Kept;
import dev.pipewright.predict.transformer.TransformerRun.Offload;
import dev.pipewright.predict.transformer.TransformerRun.Routing;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Single formulas with numbers that a pencil can check. */
class FormulasByHandTest {
  private static final double SAME = 1e-12; // relative
  private static final int HIDDEN = 1024;
  private static final int SEQUENCE = 2048;

  /** Every constant 1, but for those that the map sets. */
  private static CalibratedConstants constants(Map<String, Double> other) {
    Map<String, Double> values = new HashMap<>();
    Stream.of(
            ("eps.a100.half eps.a100.fp8 phi.cudnn ew ew.moe scores head cast opt theta"
                    + " host.dropless chif chi ring bus.a100 abus.a100 fbus.a100 eta eta.a2a xi"
                    + " chi.a2a delta kp window chi.dp kappa lambda sigma fixed offload")
                .split(" ", -1))
        .forEach(name -> values.put(name, 1.0));
    values.putAll(other);
    LogInterval narrow = new LogInterval(Math.log(0.9), Math.log(1.1));
    LogInterval wide = new LogInterval(Math.log(0.8), Math.log(1.3));
    return new CalibratedConstants(
        values,
        Map.of("dense", new Errors(narrow, wide, 0.05), "moe", new Errors(wide, wide, 0.1)),
        Map.of("nemo | a100 | half dense", new HiddenRange(1024, 4096)));
  }

  private static TrainingLayout layout(int tensor, int pipeline, int data, int interleave) {
    return new TrainingLayout(
        tensor, pipeline, data, 1, interleave, 1, 1, 0, data, false, true, 8 * data, 1);
  }

  private static TransformerShape shape(int layers, Optional<Mixture> mixture) {
    LayerShape block =
        LayerShape.of(
            GroupedQuery.plain(16, 16, 64),
            mixture.isPresent() ? mixture.get() : new Dense(4 * HIDDEN, false, false),
            NormShape.LAYER);
    return TransformerShape.of(
        HIDDEN,
        Words.of(51_200, HIDDEN, new Positions.Fixed()),
        new StackShape(StackShape.repeated(block, layers), true, Optional.of(NormShape.LAYER)),
        List.of(new HeadPart.Scores(false, false)),
        SEQUENCE);
  }

  private static TransformerRun run(
      TransformerShape shape, TrainingLayout layout, RecomputePolicy recompute, boolean fused) {
    return new TransformerRun(
        shape,
        RoundMachine.get(),
        new SoftwareStack(Framework.NEMO, "", false, false, false),
        layout,
        StageSplit.even(layout.pipeline(), layout.interleave(), shape.layers(), 0, false, false),
        new NumberFormats(Products.HALF, 0, false, false, 2, new StateBytes(2, 4, 12)),
        fused,
        recompute,
        Routing.PLAIN,
        Offload.NOTHING,
        new Kept(true, true, 6, 2, true));
  }

  private static TransformerRun run(TrainingLayout layout) {
    return run(shape(8, Optional.empty()), layout, new RecomputePolicy.None(), true);
  }

  private static StackConstants stack(TransformerRun run) {
    return StackConstants.of(constants(Map.of()), run);
  }

  private static void same(double expected, double value) {
    assertEquals(expected, value, SAME * Math.abs(expected));
  }

  @Test
  void aProductPaysForHalfAWaveAndItsPrologue() {
    TransformerRun run = run(layout(1, 1, 1, 1));
    GemmTime gemm = new GemmTime(run, stack(run));
    double wave = 0.5 * 100 * 256 * 128;
    same(
        2 * (3 * 512.0 * 256 + wave) * (1024 + 64) / 1e14,
        gemm.seconds(512, 1024, 256, 3, Products.HALF));
    same(
        2 * (512.0 * 256 + wave) * (1024 + 128) / 1e14,
        gemm.seconds(512, 1024, 256, 1, Products.FP8));
  }

  @Test
  void anAllReduceSendsTwiceItsBytesOnceInADomainAndOnceBetweenDomains() {
    TransformerRun run = run(layout(1, 1, 16, 1));
    CollectiveTime collectives = new CollectiveTime(run, stack(run));
    same(0, collectives.allReduce(1e9, 1, 1));
    same(15e-6 * 4 + 2 * 1e9 * 7 / 8 / 1e11, collectives.allReduce(1e9, 8, 1));
    // sixteen ranks: two domains of eight, which share 80 GB/s
    double inside = 15e-6 * 4 + 2 * 1e9 * 15 / 16 / 1e11;
    double between = 2 * 1e9 / 2 / 8 * 8 / 8e10 + 20e-6;
    same(inside + between, collectives.allReduce(1e9, 16, 1));
    // ranks that are a domain apart send at an eighth of it each
    same(2 * 1e9 / 2 * 8 / 8e10 + 20e-6, collectives.allReduce(1e9, 2, 8));
  }

  @Test
  void transfersOfAPipelineCrossDomainsWhereTheirRanksDo() {
    TransformerRun near = run(layout(1, 2, 4, 1));
    double bytes = 2.0 * SEQUENCE * HIDDEN;
    same(bytes / (0.75 * 1e11) + 15e-6, transfer(near));
    TransformerRun far = run(layout(8, 2, 1, 1)); // sequence parallelism scatters
    same(bytes / 8 / 1e10 + 20e-6, transfer(far));
  }

  private static double transfer(TransformerRun run) {
    return new CollectiveTime(run, stack(run))
        .transfer(run.tokens() * HIDDEN, run.layout().sequenceParallel());
  }

  @Test
  void activationsAreThirtyFourBytesForEachTokenAndFeature() {
    TransformerRun run = run(layout(1, 1, 1, 1));
    TransformerSizes sizes = TransformerSizes.of(run.shape());
    double tokenFeatures = (double) SEQUENCE * HIDDEN;
    // Korthikanti et al.: 34, where GeLU's output is kept besides its input and both have 4h
    same(34 * tokenFeatures, LayerActivations.of(run, sizes, false).total());
    TransformerRun unfused = run(run.shape(), run.layout(), new RecomputePolicy.None(), false);
    same(
        34 * tokenFeatures + 5.0 * 16 * SEQUENCE * SEQUENCE,
        LayerActivations.of(unfused, sizes, false).total());
    TransformerRun full = run(run.shape(), run.layout(), new RecomputePolicy.Full(0, false), true);
    same(2 * tokenFeatures, LayerActivations.of(full, sizes, false).total());
    TransformerRun split = run(layout(4, 1, 1, 1));
    same(34 * tokenFeatures / 4, LayerActivations.of(split, sizes, false).total());
    TransformerRun core =
        run(
            run.shape(),
            run.layout(),
            new RecomputePolicy.Selective(Set.of(RecomputePolicy.Module.CORE_ATTN)),
            false);
    same(34 * tokenFeatures, LayerActivations.of(core, sizes, false).total());
  }

  @Test
  void interleavingHoldsLayersTimesOnePlusPMinusOneOverPV() {
    double layer = 34.0 * SEQUENCE * HIDDEN;
    TransformerRun plain = run(layout(1, 4, 1, 1));
    same(8 * layer, new RankMemoryFormula(plain, sizes(plain)).ranks().get(0).activations());
    same(2 * layer, new RankMemoryFormula(plain, sizes(plain)).ranks().get(3).activations());
    TransformerRun chunks = run(layout(1, 4, 1, 2));
    same(
        8 * (1 + 3.0 / 8) * layer,
        new RankMemoryFormula(chunks, sizes(chunks)).ranks().get(0).activations());
  }

  private static TransformerSizes sizes(TransformerRun run) {
    return TransformerSizes.of(run.shape());
  }

  @Test
  void stateHasEighteenBytesAndShardsDivideIt() {
    double matrices = 12.0 * HIDDEN * HIDDEN + 4 * HIDDEN;
    double ends = 2.0 * 51_200 * HIDDEN;
    double elements = 8 * matrices + ends;
    for (int zero = 0; zero <= 3; zero++) {
      TrainingLayout layout = new TrainingLayout(1, 1, 4, 1, 1, 1, 1, zero, 4, false, false, 8, 1);
      TransformerRun run = run(layout);
      double each = List.of(18.0, 6 + 12.0 / 4, 2 + 16.0 / 4, 18.0 / 4).get(zero);
      double gathered = zero < 2 ? 0 : 2 * (zero == 2 ? 4 : 2) * matrices;
      same(
          elements * each + gathered,
          new RankMemoryFormula(run, sizes(run)).ranks().get(0).state());
    }
  }

  private static TransformerRun sharded(int pipeline, int zero, boolean reshard) {
    return run(new TrainingLayout(1, pipeline, 4, 1, 1, 1, 1, zero, 4, reshard, false, 32, 1));
  }

  private static TransformerPrediction predicted(TransformerRun run) {
    return TransformerOracle.predict(run, constants(Map.of("theta", 1e-9)));
  }

  @Test
  void aPipelineThatShardsOnceAStepTakesAndHoldsWhatZeroOneDoes() {
    TransformerPrediction one = predicted(sharded(4, 1, false));
    for (int zero = 2; zero <= 3; zero++) {
      TransformerPrediction once = predicted(sharded(4, zero, false));
      assertEquals(one.phases(), once.phases());
      assertEquals(one.ranks(), once.ranks());
    }
  }

  @Test
  void aPipelineThatShardsAfterEveryPassGathersAndReducesForEveryMicroBatch() {
    double layer = 12.0 * HIDDEN * HIDDEN;
    double table = 51_200.0 * HIDDEN;
    TransformerPrediction three = predicted(sharded(4, 3, true));
    double bytes = 18.0 / 4 * (2 * (layer + 4 * HIDDEN) + table);
    same(bytes + 2 * 2 * (layer + 4 * HIDDEN), three.ranks().get(0).state());
    // a share of 3/4 leaves each of four ranks at 100 GB/s, after a latency of two doublings
    double latency = 2;
    double gather = 2 * (2 * layer * 3 / 4 / 1e11 + latency);
    double scatter = gather; // gradients have 2 bytes, too
    double ends = 2 * table * 3 / 4 / 1e11 + latency;
    double each = 2 * gather + scatter + 2 * ends + 2 * (2 * layer * 3 / 4 / 1e11 + latency);
    // latencies of seconds exceed computation, which slows communication by all of itself
    same(8 * each, three.phases().sharding());
    same(0, three.phases().dataParallel());
    TransformerPrediction two = predicted(sharded(4, 2, true));
    same(
        (2 + 16.0 / 4) * (2 * (layer + 4 * HIDDEN) + table) + 2 * 4 * (layer + 4 * HIDDEN),
        two.ranks().get(0).state());
  }

  /** Latencies of seconds exceed computation, which slows communication by all of itself. */
  private static void gathersAndScatters(double layer, double ends, TransformerRun run) {
    double each = 8 * (2 + 1) * layer + 2 * ends + 2 * layer; // gradients have 2 bytes, too
    same(2 * each, predicted(run).phases().sharding());
  }

  @Test
  void shardGroupsOfTensorRanksShareTheNetworkOfTheirMachine() {
    TransformerRun run =
        run(new TrainingLayout(8, 1, 4, 1, 1, 1, 1, 3, 4, false, true, 8, 1)); // one on a machine
    double rate = 8 * 1e10 / 8; // of a machine's network, which serves eight groups
    double layer = 2 * 12.0 * HIDDEN * HIDDEN / 8 * 3 / 4 / rate + 2; // two doublings
    double ends = 2 * 2 * 51_200.0 * HIDDEN / 8 * 3 / 4 / rate + 2;
    gathersAndScatters(layer, ends, run);
  }

  @Test
  void expertsAreGatheredFromTheRanksThatHoldThem() {
    Mixture mixture =
        new Mixture(16, 4, new Dense(512, false, false), false, Optional.empty(), false);
    TrainingLayout layout = new TrainingLayout(1, 1, 16, 1, 1, 8, 1, 3, 16, false, false, 32, 1);
    TransformerRun run =
        run(shape(8, Optional.of(mixture)), layout, new RecomputePolicy.None(), true);
    double rest = 4.0 * HIDDEN * HIDDEN + 16.0 * HIDDEN; // attention and routing
    double experts = 16.0 / 8 * 2 * HIDDEN * 512;
    double all = 8 * 1e10; // the network of a machine, which one group has or eight share
    double layer = 2 * rest * 15 / 16 / all + 4 + 2 * experts / 2 / (all / 8) + 1;
    double ends = 2 * 2 * 51_200.0 * HIDDEN * 15 / 16 / all + 4;
    gathersAndScatters(layer, ends, run);
  }

  /** Experts have no more shards than a group of hybrid sharding has ranks that hold them. */
  @Test
  void copiesOfAShardGroupHoldTheSameExperts() {
    TrainingLayout whole = new TrainingLayout(1, 1, 32, 1, 1, 4, 1, 3, 32, false, false, 32, 1);
    assertEquals(8, whole.expertShards());
    TrainingLayout hybrid = new TrainingLayout(1, 1, 32, 1, 1, 4, 1, 3, 8, false, false, 32, 1);
    assertEquals(2, hybrid.expertShards());
  }

  @Test
  void zeroTwoReducesGradientsOfEveryMicroBatch() {
    TransformerRun run = sharded(1, 2, false);
    double elements = 8 * 12.0 * HIDDEN * HIDDEN + 2 * 51_200.0 * HIDDEN;
    double both = 15e-6 * 3 + 2 * 2 * elements * 3 / 4 / 1e11; // two halves of an all-reduce
    double hidden = predicted(run).phases().layers().total() / 8;
    double last = predicted(sharded(1, 1, false)).phases().dataParallel();
    assertTrue(hidden > both, "each is hidden but for its exposed share, which is all of it");
    same(last + 7 * both / 2, predicted(run).phases().dataParallel());
    same(both, last);
  }

  private static PassSeconds layers(
      Framework framework, int context, int sequence, GpuMachine machine) {
    TransformerRun one =
        run(new TrainingLayout(1, 1, 1, context, 1, 1, 1, 0, context, false, false, 8, 1));
    TransformerRun run =
        new TransformerRun(
            one.shape().withSequence(sequence),
            machine,
            new SoftwareStack(framework, "", false, false, false),
            one.layout(),
            one.split(),
            one.formats(),
            true,
            one.recompute(),
            Routing.PLAIN,
            Offload.NOTHING,
            one.kept());
    return predicted(run).phases().layers();
  }

  @Test
  void keysAndValuesCostWhatAttentionDoesNotHide() {
    GpuMachine slow =
        RoundMachine.get().with("slow", 80e9, 1.2e9, 2, 1e8); // 100 MB/s between pairs
    double block = 2.0 * SEQUENCE / 4 * 2 * HIDDEN; // bytes of a quarter's keys and values
    double attention =
        layers(Framework.NEMO, 4, SEQUENCE, slow).attention() / (8 * 8); // both passes
    double forward = attention / 3.5;
    double backward = attention - forward;
    double ring = 3 * (block / 1e8 + 20e-6) + 3 * (2 * block / 1e8 + 20e-6);
    same(
        8 * 8 * (ring - 3.0 / 4 * attention),
        layers(Framework.NEMO, 4, SEQUENCE, slow).contextParallel());
    // two domains of two: 15 µs a step inside, then half of all bytes between them
    double inside = 15e-6 * 2 + 2 * 4 * block * 3 / 4 / 1e11;
    double gather = (inside + 2 * 4 * block / 2 / 2 * 2 / 2e8 + 20e-6) / 2;
    double twice = (15e-6 * 2 + 2 * 8 * block * 3 / 4 / 1e11) / 2;
    double scatter = twice + (2 * 8 * block / 2 / 2 * 2 / 2e8 + 20e-6) / 2;
    same(
        8 * 8 * (gather - forward / 4 + (scatter - backward / 4)),
        layers(Framework.MAXTEXT, 4, SEQUENCE, slow).contextParallel());
    same(0, layers(Framework.NEMO, 4, 32 * SEQUENCE, RoundMachine.get()).contextParallel());
    same(0, layers(Framework.NEMO, 1, SEQUENCE, slow).contextParallel());
  }

  @Test
  void aHostThatUpdatesHoldsStateAndMovesGradientsAndWeights() {
    TransformerRun run = sharded(1, 1, false);
    TransformerRun half =
        new TransformerRun(
            run.shape(),
            run.machine(),
            run.software(),
            run.layout(),
            run.split(),
            run.formats(),
            true,
            run.recompute(),
            Routing.PLAIN,
            new Offload(0, Set.of(), 0.5),
            run.kept());
    double elements = 8 * (12.0 * HIDDEN * HIDDEN + 4 * HIDDEN) + 2 * 51_200.0 * HIDDEN;
    double state = predicted(run).worst().state();
    same(state - elements * 12 / 4 / 2, predicted(half).worst().state());
    same(elements * 16 / 4 / 2, predicted(half).hostBytes());
    same(0, predicted(run).hostBytes());
    double matrices = elements - 8 * 4 * HIDDEN; // norms are left out of the update
    double host = 6 / 1e10 + 28 / 25e9; // over 10 GB/s, and in memory
    same(
        predicted(run).phases().optimizer() / 2 + matrices / 4 / 2 * host,
        predicted(half).phases().optimizer());
  }

  @Test
  void expertsSeeTheirShareOfTokensAndTokensLeaveOnceForEachTarget() {
    Mixture mixture =
        new Mixture(16, 4, new Dense(512, false, false), false, Optional.empty(), false);
    TrainingLayout layout = new TrainingLayout(1, 1, 8, 1, 1, 8, 1, 0, 8, false, false, 64, 1);
    TransformerRun run =
        run(shape(8, Optional.of(mixture)), layout, new RecomputePolicy.None(), true);
    ExpertLoad load = ExpertLoad.of(run, sizes(run));
    assertEquals(new ExpertLoad(4.0 * SEQUENCE, 2, 512), load);
    double bytes = 2.0 * SEQUENCE * HIDDEN;
    same(
        2 * (bytes * 4 * 7 / 8 / 1e11 + 15e-6),
        new CollectiveTime(run, stack(run)).allToAllThereAndBack(SEQUENCE, sizes(run)));
    TransformerRun single =
        new TransformerRun(
            run.shape(),
            run.machine(),
            run.software(),
            layout,
            run.split(),
            run.formats(),
            true,
            run.recompute(),
            new Routing(true, false, false),
            Offload.NOTHING,
            run.kept());
    double copies = 8 * (1 - Math.pow(7.0 / 8, 4));
    same(
        2 * (bytes * copies * 7 / 8 / 1e11 + 15e-6),
        new CollectiveTime(single, stack(single)).allToAllThereAndBack(SEQUENCE, sizes(run)));
  }

  @Test
  void theSplitGivesEarlierChunksWhatIsLeftAndCountsEndsAsLayers() {
    StageSplit even = StageSplit.even(2, 1, 5, 1, false, false);
    assertEquals(
        List.of(new StageSplit.Chunk(3, 1, 0, 0), new StageSplit.Chunk(2, 0, 1, 1)), even.chunks());
    StageSplit ends = StageSplit.even(4, 1, 10, 0, true, true);
    assertEquals(
        List.of(2, 3, 3, 2), ends.chunks().stream().map(StageSplit.Chunk::layers).toList());
  }

  @Test
  void phasesAddUpAndTheIntervalWidensWithDistance() {
    TransformerRun run = run(layout(2, 4, 2, 2));
    CalibratedConstants constants = constants(Map.of("fixed", 0.03, "theta", 1e-5));
    TransformerPrediction predicted = TransformerOracle.predict(run, constants);
    TransformerPhases phases = predicted.phases();
    same(0.03, phases.fixed());
    same(0.9 * phases.total(), predicted.shortestSeconds());
    same(1.1 * phases.total(), predicted.longestSeconds());
    assertEquals(CalibratedConstants.Coverage.INSIDE, predicted.coverage());
    assertTrue(phases.bubble() > 0 && phases.transfers() > 0 && phases.dataParallel() > 0);
    // the bubble of equal stages is (p − 1) / (v · m) of the passes; ends make it a little more
    double passes = phases.layers().total();
    assertTrue(phases.bubble() >= 3.0 / (2 * 8) * passes * 0.99, phases + "");
    TransformerRun elsewhere =
        new TransformerRun(
            run.shape(),
            run.machine(),
            new SoftwareStack(Framework.MAXTEXT, "", false, false, false),
            run.layout(),
            run.split(),
            run.formats(),
            true,
            run.recompute(),
            Routing.PLAIN,
            Offload.NOTHING,
            run.kept());
    TransformerPrediction unseen = TransformerOracle.predict(elsewhere, constants);
    assertEquals(CalibratedConstants.Coverage.UNSEEN, unseen.coverage());
    same(Math.pow(1.3, 1.5) * unseen.iterationSeconds(), unseen.longestSeconds());
    same(Math.exp(0.05), constants.indistinct(run));
    same(Math.exp(0.075), constants.indistinct(elsewhere));
  }
}
