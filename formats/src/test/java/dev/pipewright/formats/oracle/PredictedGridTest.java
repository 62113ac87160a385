package dev.pipewright.formats.oracle;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.json.Tree;
import dev.pipewright.formats.machine.MachineSheets;
import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.Framework;
import dev.pipewright.predict.transformer.TransformerOracle;
import dev.pipewright.predict.transformer.TransformerPhases;
import dev.pipewright.predict.transformer.TransformerPrediction;
import dev.pipewright.predict.transformer.TransformerRankBytes;
import dev.pipewright.predict.transformer.TransformerRun;
import dev.pipewright.predict.transformer.ZeroChoice;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/**
 * Predictions of made-up runs equal those of an independent program, whose answers stand in the
 * tables' columns {@code expected_…}.
 */
class PredictedGridTest {
  private static final double SAME = 1e-9; // relative

  /** Those with which the independent program answered, from before later calibrations. */
  private static final CalibratedConstants CONSTANTS =
      CalibratedConstantsJson.record(Tree.json(table("grid-constants.json"))).calibrated();

  /**
   * Runs whose shard groups that program prices otherwise: it shards experts over all ranks that
   * shard other layers, and lets each of the groups that share a machine's network have all of it.
   */
  private static final Set<String> OTHER_GROUPS =
      Set.of(
          "g036", "g037", "g073", "g082", "g084", "g088", "g113", "g114", "g121", "g128", "g225",
          "g255");

  /** Those of them whose experts it shards over more ranks than a group has. */
  private static final Set<String> OTHER_SHARDS = Set.of("g082", "g088", "g113");

  private static Path table(String name) {
    try {
      return Path.of(
          Objects.requireNonNull(PredictedGridTest.class.getResource("/oracle/" + name)).toURI());
    } catch (URISyntaxException e) {
      throw new AssertionError(e);
    }
  }

  /**
   * The run whose seconds that program predicted: its ZeRO-2 has no reductions of its own, unless
   * they go layer by layer, and its pipelines gather parameters once a step.
   */
  private static TransformerRun timed(TransformerRun run) {
    Framework framework = run.software().framework();
    boolean byLayer = framework == Framework.MPT || framework == Framework.LLM_FOUNDRY;
    int zero = run.layout().zero();
    return with(run, zero == 2 && !byLayer ? 1 : zero, false);
  }

  /** The run whose bytes it predicted: its ZeRO-2 holds whole gradients, its ZeRO-3 nothing. */
  private static TransformerRun sized(TransformerRun run) {
    int zero = run.layout().zero();
    return with(run, zero == 2 ? 1 : zero, true);
  }

  private static TransformerRun with(TransformerRun run, int zero, boolean reshard) {
    return run.with(run.layout().with(new ZeroChoice(zero, reshard)));
  }

  private static void each(
      String name,
      UnaryOperator<TransformerRun> known,
      BiConsumer<TrainingRow, TransformerPrediction> check) {
    TrainingRuns runs = new TrainingRuns(MachineSheets.read());
    TrainingTable table = TrainingTable.read(table(name));
    assertTrue(table.rows().size() >= 100, "too few rows: " + table.rows().size());
    assertAll(
        table.rows().stream()
            .map(row ->
                () ->
                    check.accept(
                        row, TransformerOracle.predict(known.apply(runs.of(row)), CONSTANTS))));
  }

  /** Where {@code other}, which that program predicts otherwise, they differ, too. */
  private static void same(TrainingRow row, String column, double value, boolean other) {
    if (other) {
      double theirs = Double.parseDouble(row.text("expected_" + column));
      assertNotEquals(theirs, value, SAME * theirs, () -> row.id() + " " + column);
    } else {
      same(row, column, value);
    }
  }

  private static void same(TrainingRow row, String column, double value) {
    double expected = Double.parseDouble(row.text("expected_" + column));
    assertEquals(expected, value, SAME * Math.abs(expected), () -> row.id() + " " + column);
  }

  @Test
  void secondsEqual() {
    each(
        "runs.csv",
        PredictedGridTest::timed,
        (row, predicted) -> {
          TransformerPhases phases = predicted.phases();
          same(row, "products_s", phases.layers().products());
          same(row, "attention_s", phases.layers().attention());
          same(row, "optimizer_s", phases.optimizer(), OTHER_SHARDS.contains(row.id()));
          if (phases.layers().contextParallel() > 0) { // that program hides it
            double expected = Double.parseDouble(row.text("expected_iteration_s"));
            assertTrue(predicted.iterationSeconds() > expected, row.id());
            return;
          }
          same(row, "bubble_s", phases.bubble());
          same(row, "data_parallel_s", phases.dataParallel());
          boolean other = OTHER_GROUPS.contains(row.id());
          same(row, "iteration_s", predicted.iterationSeconds(), other);
          same(row, "low_s", predicted.shortestSeconds(), other);
          same(row, "high_s", predicted.longestSeconds(), other);
        });
  }

  @Test
  void bytesEqual() {
    each(
        "runs.csv",
        PredictedGridTest::sized,
        (row, predicted) -> {
          boolean other = OTHER_SHARDS.contains(row.id());
          same(row, "worst_bytes", predicted.worst().total(), other);
          same(row, "logged_bytes", predicted.logged().total(), other);
          assertEquals(row.flag("expected_fits", false), predicted.fits(), row.id());
        });
  }

  @Test
  void bytesOfMegatronsFlagsEqual() {
    each(
        "megatron-flags.csv",
        PredictedGridTest::sized,
        (row, predicted) -> {
          TransformerRankBytes logged = predicted.logged();
          same(row, "state_bytes", logged.state());
          same(row, "activations_bytes", logged.activations());
          same(row, "working_set_bytes", logged.workingSet());
          same(row, "logits_bytes", logged.logits());
          same(row, "embedding_bytes", logged.embedding());
          same(row, "workspace_bytes", logged.workspace());
          same(row, "worst_bytes", predicted.worst().total());
          same(row, "logged_bytes", logged.total());
          assertEquals(row.flag("expected_fits", false), predicted.fits(), row.id());
        });
  }
}
