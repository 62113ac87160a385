package dev.pipewright.bench.oracle;

import dev.pipewright.bench.oracle.PublishedSteps.Family;
import dev.pipewright.bench.plot.Axis;
import dev.pipewright.bench.plot.Figure;
import dev.pipewright.bench.plot.Lines;
import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.formats.oracle.CalibratedConstantsJson;
import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.MeasuredStep;
import dev.pipewright.predict.transformer.TrainingLayout;
import dev.pipewright.predict.transformer.TransformerOracle;
import dev.pipewright.predict.transformer.TransformerPrediction;
import dev.pipewright.solver.calibrate.StepErrors;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Every published training step with the prediction of the shipped constants. */
public final class TransformerAccuracy implements Reproduction {
  private static final String PREDICTED = "its network on its machine in the fit";
  private static final String LEFT_OUT = "left out of the fit";

  @Override
  public String name() {
    return "transformer-accuracy";
  }

  @Override
  public String summary() {
    return "Every published training step of transformers, predicted.";
  }

  @Override
  public List<String> needs() {
    return List.of("measured", "calculon");
  }

  @Override
  public Report run(Reference reference) {
    TransformerFit fit = new TransformerFit(reference);
    CalibratedConstants shipped = CalibratedConstantsJson.read();
    double[] residuals = fit.steps().stream().mapToDouble(step -> step.residual(shipped)).toArray();
    Report report =
        new Report("Predicted and measured steps of transformers")
            .paragraph(
                ("`Reproduce transformer-accuracy`, computed %s: what `predict --table` answers for %d"
                        + " published steps, from 2021 to 2026 and from A100 to GB300."
                        + " Errors are predicted over measured seconds less one; left-out errors come from a"
                        + " fit that saw neither the network on that machine nor its near-copies"
                        + " ([transformer-calibration.md](transformer-calibration.md)). Steps whose source"
                        + " leaves recomputation open are listed and not judged.")
                    .formatted(LocalDate.now(ZoneOffset.UTC), fit.steps().size()))
            .heading("By family")
            .table(families(fit, shipped, residuals))
            .heading("Networks without a fitted step")
            .paragraph(
                "Steps of Megatron-Bridge 25.11 (`docs/performance-summary.md` at commit 00b7660b), which no"
                    + " fit has seen. The page leaves recomputation open; here it is none.")
            .table(unseen(shipped))
            .table(unseenSteps(shipped))
            .heading("Next to other predictors")
            .table(others(fit, residuals))
            .paragraph(conditions());
    for (Family family : Family.values()) {
      report.heading("Steps: " + family.label).table(steps(fit, shipped, family));
    }
    return report.figure(figure(fit, residuals));
  }

  private static Markdown families(
      TransformerFit fit, CalibratedConstants shipped, double[] residuals) {
    Markdown table =
        new Markdown(
            "steps",
            "count",
            "mean error",
            "median",
            "90th percentile",
            "worst",
            "left out: mean",
            "median",
            "90 % intervals hold");
    FamilyErrors.parts(fit)
        .forEach((label, indices) -> {
          StepErrors warm = FamilyErrors.errors(indices, residuals);
          StepErrors cold = FamilyErrors.errors(indices, fit.withoutGroup());
          table.row(
              label,
              warm.count(),
              Numbers.percent(warm.mean()),
              Numbers.percent(warm.median()),
              Numbers.percent(warm.ninetieth()),
              Numbers.percent(warm.worst()),
              Numbers.percent(cold.mean()),
              Numbers.percent(cold.median()),
              Numbers.percent(FamilyErrors.held(fit, shipped, indices)));
        });
    return table;
  }

  private static Markdown unseen(CalibratedConstants shipped) {
    Markdown table =
        new Markdown("steps", "count", "mean error", "median", "worst", "intervals hold");
    UnseenSteps.read().stream()
        .collect(
            Collectors.groupingBy(
                step ->
                    CalibratedConstants.rangeOf(step.run()).endsWith("moe")
                        ? "mixture of experts"
                        : "dense, 8 bits",
                TreeMap::new,
                Collectors.toList()))
        .forEach((label, steps) -> {
          StepErrors errors =
              StepErrors.of(steps.stream().mapToDouble(step -> step.residual(shipped)).toArray());
          long held = steps.stream().filter(step -> isHeld(step, shipped)).count();
          table.row(
              label,
              errors.count(),
              Numbers.percent(errors.mean()),
              Numbers.percent(errors.median()),
              Numbers.percent(errors.worst()),
              held + " of " + errors.count());
        });
    return table;
  }

  private static boolean isHeld(MeasuredStep step, CalibratedConstants shipped) {
    TransformerPrediction shown = TransformerOracle.predict(step.run(), shipped);
    return shown.shortestSeconds() <= step.seconds() && step.seconds() <= shown.longestSeconds();
  }

  private static Markdown unseenSteps(CalibratedConstants shipped) {
    Markdown table =
        new Markdown(
            "network, machine", "precision", "layout", "measured s", "predicted s", "error");
    for (MeasuredStep step : UnseenSteps.read()) {
      double predicted = TransformerOracle.predict(step.run(), shipped).iterationSeconds();
      table.row(
          step.group().replace(" | ", ", "),
          step.run().formats().products().name().toLowerCase(Locale.ROOT),
          layout(step.run().layout()),
          Numbers.seconds(step.seconds()),
          Numbers.seconds(predicted),
          Numbers.more(predicted, step.seconds()));
    }
    return table;
  }

  /** Figures that others publish, with ours on the same runs. */
  private static Markdown others(TransformerFit fit, double[] residuals) {
    int[] nodes = fit.published().of(Family.MULTI_NODE);
    int[] largest = fit.published().of(Family.LARGEST);
    Markdown table =
        new Markdown(
            "predictor", "runs", "its error", "Pipewright, fitted", "Pipewright, left out");
    table.row(
        "vTrain",
        "many nodes of A100",
        "mean 14.73 % of the whole table",
        mean(nodes, residuals) + " of the half here",
        mean(nodes, fit.withoutGroup()));
    table.row(
        "Calculon",
        "largest published Megatron runs",
        "mean 3.65 %, worst 8.9 % of eight; mean 1.6 %, worst 3.3 % of the four here",
        meanAndWorst(largest, residuals),
        meanAndWorst(largest, fit.withoutGroup()));
    table.row(
        "Charon",
        "its authors' runs, training on more than 10,000 GPUs and all",
        "under 3.74 % and under 5.35 %",
        "–",
        "–");
    return table;
  }

  private static String mean(int[] indices, double[] residuals) {
    return "mean " + Numbers.percent(FamilyErrors.errors(indices, residuals).mean());
  }

  private static String meanAndWorst(int[] indices, double[] residuals) {
    StepErrors errors = FamilyErrors.errors(indices, residuals);
    return mean(indices, residuals) + ", worst " + Numbers.percent(errors.worst());
  }

  private static String conditions() {
    return """
    - **vTrain** (J. Bang et al., *vTrain*, MICRO 2024) profiles kernels on a GPU of the machine and
      simulates the rest; the figure is its own for the whole table of A100 nodes. Pipewright measures
      nothing on the machine, but its constants were fitted to steps of this table.
    - **Calculon** (M. Isaev et al., SC 2023) computes from a description of the machine whose efficiencies
      by size of a product its authors chose; the figures are its answers for table 5 of arXiv:2205.05198
      at commit caa4b11. Pipewright's constants were fitted to four of these eight runs.
    - **Charon** (M. Yang et al., MLSys 2026, arXiv:2605.17164) profiles and simulates; the figures are its
      abstract's, for runs of its authors that are not published, so that no figure of ours stands next
      to them.
    - **Primus** (AMD) projects from a measured node; its guide (`docs/02-user-guide/projection.md` at
      commit 090d3e5f) states no error.
    - A fitted error says how well the formulas can describe runs, a left-out one how far to trust a
      prediction for another network.\
    """;
  }

  private static Markdown steps(TransformerFit fit, CalibratedConstants shipped, Family family) {
    Markdown table =
        new Markdown(
            "step",
            "network, machine",
            "framework",
            "precision",
            "layout",
            "measured s",
            "predicted s",
            "error",
            "left out",
            "interval s",
            "calibrated");
    IntStream.range(0, fit.steps().size())
        .filter(i -> fit.published().family(i) == family)
        .forEach(i -> {
          MeasuredStep step = fit.steps().get(i);
          TransformerPrediction shown = TransformerOracle.predict(step.run(), shipped);
          table.row(
              step.id() + (fit.published().judged(i) ? "" : " (not judged)"),
              step.group().replace(" | ", ", "),
              step.run().software().framework().word(),
              step.run().formats().products().name().toLowerCase(Locale.ROOT),
              layout(step.run().layout()),
              Numbers.seconds(step.seconds()),
              Numbers.seconds(shown.iterationSeconds()),
              Numbers.more(shown.iterationSeconds(), step.seconds()),
              Numbers.more(Math.exp(fit.withoutGroup()[i]), 1),
              Numbers.seconds(shown.shortestSeconds())
                  + " to "
                  + Numbers.seconds(shown.longestSeconds()),
              shown.coverage().name().toLowerCase(Locale.ROOT));
        });
    return table;
  }

  private static String layout(TrainingLayout layout) {
    return degree("tensor", layout.tensor())
        + degree("pipeline", layout.pipeline())
        + degree("context", layout.context())
        + degree("expert", layout.expert())
        + "data "
        + layout.data();
  }

  private static String degree(String word, int degree) {
    return degree > 1 ? word + " " + degree + ", " : "";
  }

  private static Figure figure(TransformerFit fit, double[] residuals) {
    Figure figure = new Figure("Predicted over measured seconds of a step", 1060, 2);
    for (Family family : Family.values()) {
      if (family == Family.LARGEST) {
        continue;
      }
      int[] indices = fit.published().of(family);
      double[] measured =
          IntStream.of(indices).mapToDouble(i -> fit.steps().get(i).seconds()).toArray();
      figure.add(
          new Lines(
                  family.label,
                  Axis.logarithmic("measured seconds"),
                  Axis.linear("predicted / measured"),
                  330)
              .points(LEFT_OUT, measured, ratios(indices, fit.withoutGroup()))
              .points(PREDICTED, measured, ratios(indices, residuals))
              .limit(1, ""));
    }
    return figure;
  }

  private static double[] ratios(int[] indices, double[] residuals) {
    return IntStream.of(indices).mapToDouble(i -> Math.exp(residuals[i])).toArray();
  }
}
