package dev.pipewright.predict.transformer;

import static dev.pipewright.predict.transformer.HandRuns.HIDDEN;
import static dev.pipewright.predict.transformer.HandRuns.SEQUENCE;
import static dev.pipewright.predict.transformer.HandRuns.constants;
import static dev.pipewright.predict.transformer.HandRuns.layout;
import static dev.pipewright.predict.transformer.HandRuns.predicted;
import static dev.pipewright.predict.transformer.HandRuns.run;
import static dev.pipewright.predict.transformer.HandRuns.same;
import static dev.pipewright.predict.transformer.HandRuns.shape;
import static dev.pipewright.predict.transformer.HandRuns.sharded;
import static dev.pipewright.predict.transformer.HandRuns.sizes;
import static dev.pipewright.predict.transformer.HandRuns.stack;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.model.transformer.FeedForwardShape.Dense;
import dev.pipewright.model.transformer.FeedForwardShape.Mixture;
import dev.pipewright.predict.transformer.NumberFormats.Products;
import dev.pipewright.predict.transformer.TransformerRun.Offload;
import dev.pipewright.predict.transformer.TransformerRun.Routing;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Single formulas with numbers that a pencil can check. */
class FormulasByHandTest {
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
