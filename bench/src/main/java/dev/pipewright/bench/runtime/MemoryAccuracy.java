package dev.pipewright.bench.runtime;

import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.bench.runtime.MeasuredStrategies.Case;
import dev.pipewright.bench.runtime.MeasuredStrategies.Kind;
import dev.pipewright.bench.runtime.MeasuredStrategies.Strategy;
import dev.pipewright.runtime.launch.TemporaryFolder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/**
 * The most memory that each worker holds, as predicted from this machine's own profile and as
 * measured. Unlike times it does not depend on what else the machine does.
 */
public final class MemoryAccuracy implements Reproduction {
  private static final String NAME = "memory-accuracy";
  private static final int STEPS = 6; // of the run that only times are taken from
  private static final double MEBIBYTE = 1 << 20;

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String summary() {
    return "Predicted and measured memory of the runtime.";
  }

  @Override
  public Report run(Reference reference) {
    Markdown table =
        new Markdown("network", "batch", "strategy", "predicted, MiB", "measured, MiB", "off by");
    double worst = 0;
    for (Case each : MeasuredStrategies.CASES) {
      for (Kind kind : MeasuredStrategies.KINDS) {
        worst = Math.max(worst, rows(table, each, kind));
      }
    }
    return new Report("Memory of workers, predicted and measured")
        .paragraph(
            "`Reproduce memory-accuracy`: each network is profiled on this machine (`profile"
                + " --workers N`), then trained with up to two worker processes (`compare`). Of"
                + " each worker the most that its tensors and what computes with them take; in no"
                + " case the prediction is off by more than "
                + Numbers.percent(worst)
                + ".")
        .table(table);
  }

  /** By how much the worst of them is off. */
  private static double rows(Markdown table, Case each, Kind kind) {
    double worst = 0;
    try (TemporaryFolder temporary = TemporaryFolder.create()) {
      Path folder = temporary.path();
      MeasuredStrategies.profile(each, kind, folder);
      for (Strategy strategy : kind.strategies()) {
        if (strategy.isFor(each)) {
          JsonNode workers =
              MeasuredStrategies.compare(each, strategy, STEPS, folder).get("memory");
          row(table, each, strategy, workers);
          for (JsonNode worker : workers) {
            worst = Math.max(worst, Math.abs(worker.get("predicted_error").asDouble()));
          }
        }
      }
    }
    return worst;
  }

  private static void row(Markdown table, Case each, Strategy strategy, JsonNode workers) {
    List<String> predicted = new ArrayList<>();
    List<String> measured = new ArrayList<>();
    List<String> off = new ArrayList<>();
    for (JsonNode worker : workers) {
      predicted.add(Numbers.fixed(worker.get("predicted").asDouble() / MEBIBYTE, 1));
      measured.add(Numbers.fixed(worker.get("measured").asDouble() / MEBIBYTE, 1));
      off.add(MeasuredStrategies.change(worker.get("predicted_error").asDouble()));
    }
    System.err.println(each.network() + ", " + strategy.name() + ": " + off);
    table.row(
        each.network(),
        each.batch(),
        strategy.name(),
        String.join(", ", predicted),
        String.join(", ", measured),
        String.join(", ", off));
  }
}
