package dev.pipewright.predict.transformer;

import static org.junit.jupiter.api.Assertions.assertEquals;

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
import java.util.stream.Stream;

/** Runs of round numbers, whose formulas a pencil can check. */
final class HandRuns {
  private static final double SAME = 1e-12; // relative
  static final int HIDDEN = 1024;
  static final int SEQUENCE = 2048;

  private HandRuns() {}

  /** Every constant 1, but for those that the map sets. */
  static CalibratedConstants constants(Map<String, Double> other) {
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

  static TrainingLayout layout(int tensor, int pipeline, int data, int interleave) {
    return new TrainingLayout(
        tensor, pipeline, data, 1, interleave, 1, 1, 0, data, false, true, 8 * data, 1);
  }

  static TransformerShape shape(int layers, Optional<Mixture> mixture) {
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

  static TransformerRun run(
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

  static TransformerRun run(TrainingLayout layout) {
    return run(shape(8, Optional.empty()), layout, new RecomputePolicy.None(), true);
  }

  static TransformerRun sharded(int pipeline, int zero, boolean reshard) {
    return run(new TrainingLayout(1, pipeline, 4, 1, 1, 1, 1, zero, 4, reshard, false, 32, 1));
  }

  static StackConstants stack(TransformerRun run) {
    return StackConstants.of(constants(Map.of()), run);
  }

  static void same(double expected, double value) {
    assertEquals(expected, value, SAME * Math.abs(expected));
  }

  static TransformerSizes sizes(TransformerRun run) {
    return TransformerSizes.of(run.shape());
  }

  static TransformerPrediction predicted(TransformerRun run) {
    return TransformerOracle.predict(run, constants(Map.of("theta", 1e-9)));
  }
}
