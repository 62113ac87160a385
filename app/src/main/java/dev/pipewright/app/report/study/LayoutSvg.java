package dev.pipewright.app.report.study;

import dev.pipewright.app.report.chart.Stack;
import dev.pipewright.app.report.chart.Stack.Mark;
import dev.pipewright.app.report.chart.StackAxis;
import dev.pipewright.app.report.chart.StackChart;
import dev.pipewright.app.report.chart.StackPanel;
import dev.pipewright.app.report.chart.StackPart;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.predict.transformer.PassSeconds;
import dev.pipewright.predict.transformer.PredictedRun;
import dev.pipewright.predict.transformer.TransformerPhases;
import dev.pipewright.predict.transformer.TransformerRankBytes;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.List;

/** Where the time and the memory of a transformer's stated layout go, as stacked bars. */
public final class LayoutSvg {
  private static final List<StackPart> TIME =
      List.of(
          new StackPart("layers", "compute"),
          new StackPart("recomputation", "recompute"),
          new StackPart("embedding, head, loss", "ends"),
          new StackPart("tensor and context parallelism", "reduce"),
          new StackPart("experts' all-to-all", "halo"),
          new StackPart("bubble", "wait"),
          new StackPart("between stages", "pass"),
          new StackPart("shards", "gather"),
          new StackPart("data parallelism", "exchange"),
          new StackPart("optimizer", "update"),
          new StackPart("stragglers, launch, offload", "buffers"));

  private static final List<StackPart> MEMORY =
      List.of(
          new StackPart("weights, gradients, optimizer", "weights"),
          new StackPart("activations", "activations"),
          new StackPart("working set", "gradients"),
          new StackPart("logits, embedding", "optimizer"),
          new StackPart("libraries", "buffers"));

  private LayoutSvg() {}

  /** Exposed seconds of a step over the number of devices, as an SVG document. */
  public static String time(List<PredictedRun> runs, String subject) {
    List<Stack> stacks = runs.stream().map(LayoutSvg::time).toList();
    List<Double> totals = runs.stream().map(run -> run.step().iterationSeconds()).toList();
    StackAxis axis = StackAxis.seconds(totals);
    return new StackChart(
            "Time of a step",
            "Exposed time by phase, over the number of devices.",
            TIME,
            List.of(new StackPanel("step", stacks, "")),
            axis,
            false,
            StackChart.needsShares(totals, axis))
        .document(subject);
  }

  private static Stack time(PredictedRun run) {
    TransformerPhases phases = run.step().phases();
    PassSeconds layers = phases.layers();
    List<Double> parts =
        List.of(
            layers.total() - layers.tensorParallel() - layers.contextParallel() - layers.allToAll(),
            phases.recomputation(),
            phases.ends(),
            layers.tensorParallel() + layers.contextParallel(),
            layers.allToAll(),
            phases.bubble(),
            phases.transfers(),
            phases.sharding(),
            phases.dataParallel(),
            phases.optimizer(),
            phases.stragglers() + phases.fixed() + phases.offload());
    double total = phases.total();
    int devices = run.run().layout().devices();
    StringBuilder tip = new StringBuilder(Words.count(devices, "device"));
    tip.append(": ").append(Units.seconds(total));
    for (int part = 0; part < parts.size(); part++) {
      if (parts.get(part) > 0) {
        tip.append("; ").append(TIME.get(part).word()).append(' ');
        tip.append(Units.seconds(parts.get(part)));
      }
    }
    Mark mark = run.step().fits() ? Mark.FITS : Mark.TOO_LARGE;
    String figure = StudyStacks.figure(Units.seconds(total), mark);
    return new Stack(devices, parts, Double.POSITIVE_INFINITY, figure, mark, tip.toString());
  }

  /** Bytes of each pipeline stage's devices at their peak, as an SVG document. */
  public static String memory(PredictedRun run, String subject) {
    double capacity = run.run().machine().usableBytes();
    List<TransformerRankBytes> ranks = run.step().ranks();
    List<Stack> stacks = new ArrayList<>();
    for (int rank = 0; rank < ranks.size(); rank++) {
      stacks.add(memory(rank, ranks.get(rank), capacity));
    }
    List<Double> totals = ranks.stream().map(TransformerRankBytes::total).toList();
    StackAxis axis = StackAxis.bytes(totals, capacity);
    return new StackChart(
            "Memory of each stage",
            "Of a device at its peak, over the pipeline's stages.",
            MEMORY,
            List.of(new StackPanel("stages", stacks, "")),
            axis,
            true,
            StackChart.needsShares(totals, axis))
        .document(subject);
  }

  private static Stack memory(int rank, TransformerRankBytes bytes, double capacity) {
    List<Double> parts =
        List.of(
            bytes.state(),
            bytes.activations(),
            bytes.workingSet(),
            bytes.logits() + bytes.embedding(),
            bytes.workspace());
    StringBuilder tip = new StringBuilder("stage " + rank + ": " + Numbers.bytes(bytes.total()));
    for (int part = 0; part < parts.size(); part++) {
      if (parts.get(part) > 0) {
        tip.append("; ").append(MEMORY.get(part).word()).append(' ');
        tip.append(Numbers.bytes(parts.get(part)));
      }
    }
    Mark mark = bytes.total() > capacity ? Mark.TOO_LARGE : Mark.FITS;
    String figure = StudyStacks.figure(StudyWords.share(bytes.total() / capacity), mark);
    return new Stack(rank, parts, capacity, figure, mark, tip.toString());
  }
}
