package dev.pipewright.solver.calibrate;

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
import dev.pipewright.predict.transformer.Framework;
import dev.pipewright.predict.transformer.GpuMachine;
import dev.pipewright.predict.transformer.MeasuredStep;
import dev.pipewright.predict.transformer.NumberFormats;
import dev.pipewright.predict.transformer.NumberFormats.Products;
import dev.pipewright.predict.transformer.NumberFormats.StateBytes;
import dev.pipewright.predict.transformer.RecomputePolicy;
import dev.pipewright.predict.transformer.SoftwareStack;
import dev.pipewright.predict.transformer.StageSplit;
import dev.pipewright.predict.transformer.TrainingLayout;
import dev.pipewright.predict.transformer.TransformerOracle;
import dev.pipewright.predict.transformer.TransformerRun;
import dev.pipewright.predict.transformer.TransformerRun.Kept;
import dev.pipewright.predict.transformer.TransformerRun.Offload;
import dev.pipewright.predict.transformer.TransformerRun.Routing;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntToDoubleFunction;

/** Steps whose seconds the oracle itself computed with constants that are known. */
final class SyntheticSteps {
  private static final GpuMachine MACHINE =
      new GpuMachine(
          "round",
          "a100",
          GpuMachine.Family.A100,
          80e9,
          1.2e9,
          3e14,
          3e14,
          3e14,
          2e12,
          100,
          3e11,
          8,
          2e10,
          2e10,
          0);

  /** What moves in these tests: name, start, least, most. */
  static final List<FreeConstant> FREE =
      List.of(
          free("eps.a100.half", 0.75, 0.4, 0.95),
          free("phi.cudnn", 0.5, 0.2, 0.9),
          free("ew.mcore", 1.2, 0.5, 4),
          free("chi", 0.7, 0.1, 0.97),
          free("eta", 0.7, 0.2, 1),
          free("sigma", 0.004, 0.0005, 0.03),
          free("fixed", 0.03, 0.002, 0.3),
          free("kp", 0.1, 0.02, 0.6));

  /** Constants that nothing fits. */
  static final CalibratedConstants OTHERS = new CalibratedConstants(others(), Map.of(), Map.of());

  private SyntheticSteps() {}

  private static FreeConstant free(String name, double start, double low, double high) {
    return FreeConstant.of(name, start, low, high, 1e-6);
  }

  private static Map<String, Double> others() {
    Map<String, Double> values = new HashMap<>();
    for (String name :
        "ew ew.moe scores head cast opt host.dropless abus fbus xi delta window offload kappa"
            .split(" ", -1)) {
      values.put(name, 1.0);
    }
    values.putAll(
        Map.of(
            "bus", 0.7, "chif", 0.1, "chi.dp", 0.2, "ring", 0.5, "theta", 1e-7, "lambda", 5e-6,
            "chi.a2a", 0.5));
    return values;
  }

  /** The truth of these tests. */
  static CalibratedConstants truth() {
    return OTHERS.with(
        Map.of(
            "eps.a100.half",
            0.62,
            "phi.cudnn",
            0.37,
            "ew.mcore",
            1.7,
            "chi",
            0.45,
            "eta",
            0.5,
            "sigma",
            0.009,
            "fixed",
            0.07,
            "kp",
            0.21));
  }

  /**
   * Forty-eight steps in six groups.
   *
   * @param factor by which a step, counted from 0, is slower than the oracle says
   */
  static List<MeasuredStep> measured(CalibratedConstants truth, IntToDoubleFunction factor) {
    List<MeasuredStep> steps = new ArrayList<>();
    for (int hidden : new int[] {1024, 2048, 3072, 4096, 6144, 8192}) {
      for (int sequence : new int[] {1024, 8192}) {
        for (int[] degrees : new int[][] {{1, 1, 8}, {2, 1, 16}, {4, 4, 4}, {8, 2, 16}}) {
          TransformerRun run = run(hidden, sequence, degrees[0], degrees[1], degrees[2]);
          int index = steps.size();
          double seconds = TransformerOracle.seconds(run, truth) * factor.applyAsDouble(index);
          steps.add(new MeasuredStep("s" + index, "h" + hidden, run, seconds, 1));
        }
      }
    }
    return steps;
  }

  private static TransformerRun run(int hidden, int sequence, int tensor, int pipeline, int data) {
    TrainingLayout layout =
        new TrainingLayout(
            tensor, pipeline, data, 1, 1, 1, 1, 0, data, false, true, 4 * pipeline * data, 1);
    LayerShape block =
        LayerShape.of(
            GroupedQuery.plain(hidden / 128, hidden / 128, 128),
            new Dense(4 * hidden, false, false),
            NormShape.LAYER);
    TransformerShape shape =
        TransformerShape.of(
            hidden,
            Words.of(51_200, hidden, new Positions.Fixed()),
            new StackShape(StackShape.repeated(block, 24), true, Optional.of(NormShape.LAYER)),
            List.of(new HeadPart.Scores(false, false)),
            sequence);
    return new TransformerRun(
        shape,
        MACHINE,
        new SoftwareStack(Framework.NEMO, "", false, false, false),
        layout,
        StageSplit.even(pipeline, 1, 24, 0, false, false),
        new NumberFormats(Products.HALF, 0, false, false, 2, new StateBytes(2, 4, 12)),
        true,
        new RecomputePolicy.None(),
        Routing.PLAIN,
        Offload.NOTHING,
        new Kept(false, false, 4, 2, true));
  }
}
