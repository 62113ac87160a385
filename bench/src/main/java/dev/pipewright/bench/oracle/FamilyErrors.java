package dev.pipewright.bench.oracle;

import dev.pipewright.bench.oracle.PublishedSteps.Family;
import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.CalibratedConstants.Errors;
import dev.pipewright.predict.transformer.CalibratedConstants.LogInterval;
import dev.pipewright.predict.transformer.GpuMachine;
import dev.pipewright.predict.transformer.MeasuredStep;
import dev.pipewright.predict.transformer.NumberFormats.Products;
import dev.pipewright.predict.transformer.TransformerOracle;
import dev.pipewright.predict.transformer.TransformerPrediction;
import dev.pipewright.solver.calibrate.StepErrors;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/** Errors by family of published steps, fitted and cross-validated. */
final class FamilyErrors {
  private FamilyErrors() {}

  /** Indices of judged steps under the name of what they have in common. */
  static Map<String, int[]> parts(TransformerFit fit) {
    Map<String, int[]> parts = new LinkedHashMap<>();
    for (Family family : Family.values()) {
      parts.put(family.label, fit.published().of(family));
    }
    IntPredicate half = i -> fit.steps().get(i).run().formats().products() == Products.HALF;
    int[] dense = fit.published().of(Family.DENSE);
    parts.put(
        "dense, 16 bits on H100 and H200",
        IntStream.of(dense).filter(half.and(i -> hopper(fit.steps().get(i)))).toArray());
    parts.put("dense, 8 bits and fewer", IntStream.of(dense).filter(half.negate()).toArray());
    return parts;
  }

  private static boolean hopper(MeasuredStep step) {
    return step.run().machine().family() == GpuMachine.Family.H100;
  }

  static StepErrors errors(int[] indices, double[] residuals) {
    return StepErrors.of(Arrays.stream(indices).mapToDouble(i -> residuals[i]).toArray());
  }

  static Markdown table(TransformerFit fit) {
    CalibratedConstants constants = fit.record().calibrated();
    Markdown table =
        new Markdown(
            "steps",
            "count",
            "fitted: mean",
            "median",
            "90th",
            "worst",
            "group left out: mean",
            "median",
            "90th",
            "network left out: mean",
            "median",
            "intervals hold",
            "wide ones hold left-out steps");
    parts(fit)
        .forEach((label, indices) -> {
          StepErrors warm = errors(indices, fit.residuals());
          StepErrors group = errors(indices, fit.withoutGroup());
          StepErrors network = errors(indices, fit.withoutNetwork());
          table.row(
              label,
              warm.count(),
              percent(warm.mean()),
              percent(warm.median()),
              percent(warm.ninetieth()),
              percent(warm.worst()),
              percent(group.mean()),
              percent(group.median()),
              percent(group.ninetieth()),
              percent(network.mean()),
              percent(network.median()),
              Numbers.percent(held(fit, constants, indices)),
              Numbers.percent(heldOutside(fit, constants, indices)));
        });
    return table;
  }

  private static String percent(double share) {
    return Numbers.fixed(100 * share, 1);
  }

  /** Share of measured steps within the intervals that predictions show. */
  static double held(TransformerFit fit, CalibratedConstants constants, int[] indices) {
    long inside =
        IntStream.of(indices)
            .filter(i -> {
              MeasuredStep step = fit.steps().get(i);
              TransformerPrediction shown = TransformerOracle.predict(step.run(), constants);
              return shown.shortestSeconds() <= step.seconds()
                  && step.seconds() <= shown.longestSeconds();
            })
            .count();
    return (double) inside / indices.length;
  }

  /** The same for steps whose group was left out, with the intervals of runs beyond the fit. */
  static double heldOutside(TransformerFit fit, CalibratedConstants constants, int[] indices) {
    Map<String, Errors> errors = constants.errors();
    long inside =
        IntStream.of(indices)
            .filter(i -> {
              String type = constants.errorClass(fit.steps().get(i).run());
              LogInterval wide = Objects.requireNonNull(errors.get(type)).outside();
              double error = -fit.withoutGroup()[i];
              return wide.low() <= error && error <= wide.high();
            })
            .count();
    return (double) inside / indices.length;
  }
}
