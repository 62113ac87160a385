package dev.pipewright.predict.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.model.transformer.AttentionShape.GroupedQuery;
import dev.pipewright.model.transformer.FeedForwardShape.Dense;
import dev.pipewright.model.transformer.HeadPart;
import dev.pipewright.model.transformer.InputShape.Positions;
import dev.pipewright.model.transformer.InputShape.Words;
import dev.pipewright.model.transformer.LayerShape;
import dev.pipewright.model.transformer.NormShape;
import dev.pipewright.model.transformer.StackShape;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.CalibratedConstants.Errors;
import dev.pipewright.predict.transformer.CalibratedConstants.LogInterval;
import dev.pipewright.predict.transformer.Framework;
import dev.pipewright.predict.transformer.GpuMachine;
import dev.pipewright.predict.transformer.PipelineParts;
import dev.pipewright.predict.transformer.PipelineParts.Part;
import dev.pipewright.predict.transformer.RecomputePolicy;
import dev.pipewright.predict.transformer.RoundMachine;
import dev.pipewright.predict.transformer.RunChoices;
import dev.pipewright.predict.transformer.TrainingLayout;
import dev.pipewright.predict.transformer.TrainingPrecision;
import dev.pipewright.predict.transformer.TransformerOracle;
import dev.pipewright.predict.transformer.TransformerPrediction;
import dev.pipewright.predict.transformer.TransformerRankBytes;
import dev.pipewright.predict.transformer.TransformerRun;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Simulated steps equal those of formulas where there are both, and papers' counts elsewhere. */
class ScheduledTransformerTest {
  private static final double SAME = 1e-9; // relative
  private static final int LAYERS = 24;

  private static final GpuMachine MACHINE = RoundMachine.get();

  private static CalibratedConstants constants() {
    Map<String, Double> values = new HashMap<>();
    for (String name :
        ("eps.a100.half phi.cudnn ew scores head cast opt theta chif chi ring bus.a100 abus.a100"
                + " fbus.a100 eta eta.a2a xi chi.a2a delta kp window chi.dp kappa lambda sigma fixed"
                + " offload host.dropless ew.moe")
            .split(" ", -1)) {
      values.put(name, 0.5);
    }
    values.put("theta", 1e-9);
    values.put("lambda", 1e-5);
    LogInterval narrow = new LogInterval(-0.1, 0.1);
    return new CalibratedConstants(
        values, Map.of("dense", new Errors(narrow, narrow, 0.05)), Map.of());
  }

  /** Ends take {@code vocabulary} words' products; with few of them all chunks are about equal. */
  private static TransformerRun run(int vocabulary, TrainingLayout layout) {
    LayerShape block =
        LayerShape.of(
            GroupedQuery.plain(16, 16, 64), new Dense(4096, false, false), NormShape.LAYER);
    TransformerShape shape =
        TransformerShape.of(
            1024,
            Words.of(vocabulary, 1024, new Positions.Fixed()),
            new StackShape(StackShape.repeated(block, LAYERS), true, Optional.of(NormShape.LAYER)),
            List.of(new HeadPart.Scores(false, false)),
            2048);
    return new RunChoices(
            shape,
            MACHINE,
            Framework.NEMO,
            layout,
            Optional.empty(),
            TrainingPrecision.BF16,
            true,
            new RecomputePolicy.None(),
            Optional.of("any"),
            0,
            0)
        .run();
  }

  private static TransformerRun run(int pipeline, int interleave, int batches, int vocabulary) {
    return run(
        vocabulary,
        new TrainingLayout(1, pipeline, 1, 1, interleave, 1, 1, 0, 1, false, false, batches, 1));
  }

  private static ScheduleEntry entry(String name) {
    return ScheduleCatalog.find(name).orElseThrow();
  }

  private static TransformerPrediction simulated(TransformerRun run, String name) {
    return ScheduledTransformer.predict(run, entry(name), constants()).step();
  }

  private static void same(double expected, double value, double scale) {
    assertEquals(expected, value, SAME * scale);
  }

  @ParameterizedTest
  @CsvSource({
    "2, 1, 2, 50000",
    "2, 1, 9, 50000",
    "4, 1, 4, 50000",
    "4, 1, 13, 50000",
    "8, 1, 8, 200000",
    "8, 1, 24, 1000",
    "3, 1, 2, 50000",
    "8, 1, 3, 128",
    "6, 1, 1, 50000"
  })
  void oneForwardOneBackwardIsSimulatedAsItsFormulaHasIt(
      int pipeline, int interleave, int batches, int vocabulary) {
    TransformerRun run = run(pipeline, interleave, batches, vocabulary);
    TransformerPrediction formula = TransformerOracle.predict(run, constants());
    TransformerPrediction simulation = simulated(run, "1f1b");
    same(formula.iterationSeconds(), simulation.iterationSeconds(), formula.iterationSeconds());
    sameBytes(formula, simulation);
  }

  private static void sameBytes(TransformerPrediction expected, TransformerPrediction found) {
    for (int rank = 0; rank < expected.ranks().size(); rank++) {
      TransformerRankBytes bytes = expected.ranks().get(rank);
      same(bytes.total(), found.ranks().get(rank).total(), bytes.total());
    }
  }

  @ParameterizedTest
  @CsvSource({"2, 2, 4", "4, 2, 8", "4, 3, 4", "4, 6, 16", "8, 3, 16"})
  void interleavedChunksAreSimulatedAsTheirFormulaHasThem(
      int pipeline, int interleave, int batches) {
    TransformerRun run = run(pipeline, interleave, batches, 128);
    TransformerPrediction formula = TransformerOracle.predict(run, constants());
    TransformerPrediction simulation = simulated(run, "interleaved");
    double seconds = formula.iterationSeconds();
    assertEquals(seconds, simulation.iterationSeconds(), 0.01 * seconds); // ends are not equal
    sameBytes(formula, simulation);
  }

  @Test
  void gpipeKeepsAllMicroBatches() {
    TransformerRun run = run(4, 1, 12, 50_000);
    TransformerPrediction formula = TransformerOracle.predict(run, constants());
    TransformerPrediction gpipe = simulated(run, "gpipe");
    double first = formula.ranks().get(0).activations();
    same(3 * first, gpipe.ranks().get(0).activations(), first); // 12 instead of 4
    same(12 * formula.ranks().get(3).activations(), gpipe.ranks().get(3).activations(), first);
  }

  @Test
  void zeroBubblePipelinesHaveThePapersBubbles() { // Qi et al., arXiv:2401.10241, table 1
    TransformerRun run = run(4, 1, 16, 128);
    Part part = PipelineParts.of(run, constants()).chunks().get(1);
    double plain = part.forward() + part.input() + part.weight();
    double tolerance = 0.02 * 3 * plain; // ends are not quite equal
    assertEquals(3 * plain, simulated(run, "1f1b").phases().bubble(), tolerance);
    assertEquals(
        3 * (part.forward() + part.input() - part.weight()),
        simulated(run, "zb-h1").phases().bubble(),
        tolerance);
    double held = simulated(run, "1f1b").ranks().get(0).activations();
    same(held, simulated(run, "zb-h1").ranks().get(0).activations(), held);
    double more = simulated(run, "zb-h2").ranks().get(0).activations();
    same(held * 7 / 4, more, held); // 2p − 1 instead of p
  }

  @Test
  void waysThereAndBackPutBothEndsOnTheFirstRank() {
    TransformerRun run = run(4, 2, 16, 50_000);
    var predicted = ScheduledTransformer.predict(run, entry("zb-v"), constants());
    assertEquals(0, predicted.run().split().rank(7));
    List<TransformerRankBytes> ranks = predicted.step().ranks();
    assertTrue(ranks.get(0).logits() > 0 && ranks.get(0).embedding() > 0);
    assertEquals(0, ranks.get(3).logits());
    assertTrue(
        predicted.step().phases().bubble()
            < simulated(run(4, 1, 16, 50_000), "1f1b").phases().bubble());
  }

  @Test
  void shardingAfterEveryPassLengthensThePasses() {
    TrainingLayout layout = new TrainingLayout(1, 4, 8, 1, 1, 1, 1, 3, 8, true, false, 8 * 16, 1);
    TransformerRun run = run(50_000, layout);
    TransformerPrediction formula = TransformerOracle.predict(run, constants());
    assertTrue(formula.phases().sharding() > 0);
    double seconds = formula.iterationSeconds();
    same(seconds, simulated(run, "1f1b").iterationSeconds(), seconds);
  }

  @Test
  void otherSchedulesAreRefusedInASentence() {
    TransformerRun run = run(4, 1, 16, 50_000);
    assertEquals(
        "schedule=dualpipe holds two copies of every stage, which transformers' layouts do not; write dualpipev or zb-v",
        refusal(run, "dualpipe"));
    assertEquals(
        "schedule=pipedream never flushes, and the step of a transformer ends with a flush; write 1f1b or zb-h1",
        refusal(run, "pipedream"));
    assertEquals(
        "schedule=dualpipev has 2 stages on each rank, not interleave=1; write as many",
        refusal(run, "dualpipev"));
  }

  private static String refusal(TransformerRun run, String name) {
    return String.valueOf(
        assertThrows(IllegalArgumentException.class, () -> simulated(run, name)).getMessage());
  }
}
