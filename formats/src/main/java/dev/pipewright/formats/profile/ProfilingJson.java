package dev.pipewright.formats.profile;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Link;
import dev.pipewright.execution.ProfilingOutcome;
import dev.pipewright.execution.ProfilingOutcome.BatchFigures;
import dev.pipewright.execution.ProfilingOutcome.LayerFigures;
import dev.pipewright.execution.ProfilingOutcome.LinkFigures;
import dev.pipewright.execution.ProfilingOutcome.PeakRun;
import dev.pipewright.execution.ProfilingOutcome.Spread;
import dev.pipewright.execution.ProfilingOutcome.SumsInTraining;
import dev.pipewright.formats.cluster.CollectiveTimings;
import dev.pipewright.formats.file.EnumWords;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.formats.memory.McapTable;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Training;
import dev.pipewright.profile.CollectiveTiming;
import dev.pipewright.profile.LayerMemory;
import dev.pipewright.units.Precision;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The answer of {@code profile --json}, and the files that other commands read: the profile itself,
 * the timings of links that {@code calibrate} reads, and the peaks that {@code plan --planner mcap}
 * reads.
 */
public final class ProfilingJson {
  private ProfilingJson() {}

  /** The profile as {@link ProfileJson} writes it. */
  public static String profile(ProfilingOutcome outcome) {
    return ProfileJson.text(
        new ModelFile(
            outcome.graph(),
            outcome.profile(),
            Optional.of(new Training(outcome.optimizer(), Precision.FP32))));
  }

  /** All collectives that were timed, as {@link CollectiveTimings} reads them. */
  public static String timings(ProfilingOutcome outcome) {
    StringBuilder text = new StringBuilder("operation,devices,collective,bytes,seconds\n");
    for (LinkFigures link : outcome.links()) {
      for (CollectiveTiming timing : link.timings()) {
        text.append(
            "%s,%d,%s,%d,%s\n"
                .formatted(
                    link.operation(),
                    link.workers(),
                    EnumWords.word(timing.kind()),
                    (long) timing.bytes(),
                    timing.seconds()));
      }
    }
    return text.toString();
  }

  /** The runs that {@link McapTable} reads. */
  public static String peaks(ProfilingOutcome outcome) {
    return JsonText.of(Map.of("runs", runs(outcome)));
  }

  private static List<Map<String, Object>> runs(ProfilingOutcome outcome) {
    List<Map<String, Object>> runs = new ArrayList<>();
    for (PeakRun run : outcome.peaks()) {
      Map<String, Object> object = new LinkedHashMap<>();
      object.put("layers", run.layers());
      object.put("peak_bytes", run.peakBytes());
      runs.add(object);
    }
    return runs;
  }

  /** Everything with its spread. */
  public static String text(ProfilingOutcome outcome) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("model", outcome.graph().name());
    object.put("device", outcome.profile().provenance().device());
    object.put("provenance", outcome.profile().provenance().toString());
    object.put("stolen_share", outcome.stolen().share());
    Map<String, Object> overhead = new LinkedHashMap<>();
    overhead.put("forward_s", outcome.overhead().forward());
    overhead.put("backward_s", outcome.overhead().backward());
    overhead.put("input_gradient_s", outcome.overhead().inputGradient());
    overhead.put("weight_gradient_s", outcome.overhead().weightGradient());
    object.put("op_overhead", overhead);
    List<Object> batches = new ArrayList<>();
    for (int i = 0; i < outcome.batches().size(); i++) {
      batches.add(batch(outcome.graph(), outcome.batches().get(i), outcome.profile().memory(i)));
    }
    object.put("batches", batches);
    object.put("links", outcome.links().stream().map(ProfilingJson::link).toList());
    outcome.cluster().ifPresent(cluster -> object.put("message_overhead", overhead(cluster)));
    outcome.sums().ifPresent(sums -> object.put("sums_in_training", sums(sums)));
    if (!outcome.peaks().isEmpty()) {
      object.put("peaks", Map.of("runs", runs(outcome)));
    }
    return JsonText.of(object);
  }

  private static Map<String, Object> batch(
      LayerGraph graph, BatchFigures batch, List<LayerMemory> memory) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("samples", batch.samples());
    object.put("read_s", batch.readSeconds());
    object.put("loss_s", batch.lossSeconds());
    object.put("kept_bytes", batch.keptBytes());
    object.put("peak_bytes", batch.peakBytes());
    object.put("workers", batch.workers());
    Map<String, Object> step = new LinkedHashMap<>();
    step.put("micro_batches", batch.microBatches());
    step.put("summed_s", batch.summedSeconds());
    step.put("measured_s", spread(batch.stepSeconds()));
    step.put("forward_s", batch.ops().forward());
    step.put("backward_s", batch.ops().backward());
    step.put("update_s", batch.ops().update());
    step.put("rest_s", batch.ops().rest());
    object.put("step", step);
    List<Object> layers = new ArrayList<>();
    for (int i = 0; i < batch.layers().size(); i++) {
      layers.add(layer(graph.layer(i).name(), batch.layers().get(i), memory.get(i)));
    }
    object.put("layers", layers);
    return object;
  }

  private static Map<String, Object> overhead(Cluster cluster) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("per_message_s", cluster.software().message().seconds());
    object.put("per_byte_s", cluster.software().message().secondsPerByte());
    return object;
  }

  private static Map<String, Object> sums(SumsInTraining sums) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("workers", sums.workers());
    object.put("samples", sums.samples());
    object.put("step_without_s", sums.alone());
    object.put("step_before_sums_s", sums.after());
    object.put("step_beside_sums_s", sums.beside());
    return object;
  }

  private static Map<String, Object> layer(String name, LayerFigures figures, LayerMemory memory) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("name", name);
    object.put("forward_s", spread(figures.forward()));
    object.put("backward_s", spread(figures.backward()));
    object.put("input_gradient_s", spread(figures.inputGradient()));
    object.put("weight_gradient_s", spread(figures.weightGradient()));
    object.put("update_s", spread(figures.update()));
    object.put("kept_bytes", figures.keptBytes());
    object.put("output_bytes", figures.outputBytes());
    object.put("parameter_bytes", figures.parameterBytes());
    object.put("forward_working_bytes", memory.forward());
    object.put("backward_working_bytes", memory.backward());
    object.put("split_kept_bytes", memory.splitKept());
    object.put("deferred_bytes", memory.deferred());
    return object;
  }

  private static Map<String, Object> spread(Spread spread) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("least", spread.least());
    object.put("median", spread.median());
    object.put("most", spread.most());
    return object;
  }

  private static Map<String, Object> link(LinkFigures link) {
    Link line = link.fit().line();
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("operation", link.operation());
    object.put("workers", link.workers());
    object.put("latency_s", line.latency().value());
    object.put("bytes_per_s", line.bandwidth().value());
    object.put("mean_error", link.fit().lineQuality().meanError());
    object.put("pieces_mean_error", link.fit().piecesQuality().meanError());
    return object;
  }
}
