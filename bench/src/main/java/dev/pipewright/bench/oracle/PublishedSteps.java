package dev.pipewright.bench.oracle;

import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.formats.machine.MachineSheets;
import dev.pipewright.formats.oracle.MeasuredTable;
import dev.pipewright.formats.oracle.TrainingTable;
import dev.pipewright.predict.transformer.MeasuredStep;
import dev.pipewright.solver.calibrate.GroupWeights;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Published training runs with the seconds of their steps, by family. */
final class PublishedSteps {
  /** A table of runs. */
  enum Family {
    MULTI_NODE("many nodes of A100", "megatron-a100-multi-node"),
    SHARDED("fully sharded", "fsdp-mpt"),
    DENSE("dense", "dense"),
    MIXTURE("mixture of experts", "moe"),
    LARGEST("largest published Megatron runs", "calculon");

    final String label;
    final String file;

    Family(String label, String file) {
      this.label = label;
      this.file = file;
    }
  }

  private static final double LARGEST_WEIGHT = 3; // four runs that each paper quotes
  private static final Map<String, String> RECOMPUTE =
      Map.of("full", "full", "attn_only", "selective", "none", "none");

  private final List<MeasuredStep> steps = new ArrayList<>();
  private final List<Family> families = new ArrayList<>();
  private final List<Boolean> judged = new ArrayList<>();

  /** As {@code predict --table} reads the tables. */
  PublishedSteps(Reference reference) {
    this(reference, false);
  }

  /**
   * With the two settings of torchtitan's runs that the tables state in a note only: kernels that
   * are not compiled together, and asynchronous tensor parallelism. A fit needs them in columns.
   */
  static PublishedSteps withNotes(Reference reference) {
    return new PublishedSteps(reference, true);
  }

  private PublishedSteps(Reference reference, boolean notes) {
    Path measured = reference.folder().resolve("measured");
    MachineSheets machines = MachineSheets.read();
    for (Family family : Family.values()) {
      TrainingTable table =
          family == Family.LARGEST
              ? largest(reference.folder().resolve("calculon/iteration-time.json"))
              : read(measured.resolve(family.file + ".csv"), notes);
      for (MeasuredStep step : MeasuredTable.of(table, machines).steps()) {
        judged.add(step.weight() >= 1);
        families.add(family);
        steps.add(
            new MeasuredStep(
                step.id(),
                step.group(),
                step.run(),
                step.seconds(),
                family == Family.LARGEST ? LARGEST_WEIGHT : step.weight()));
      }
    }
  }

  /** With weights that count a group's near-copies less. */
  List<MeasuredStep> steps() {
    return GroupWeights.of(steps);
  }

  Family family(int index) {
    return families.get(index);
  }

  /** Whether the source states all settings of a step, so that its error counts. */
  boolean judged(int index) {
    return judged.get(index);
  }

  /** Indices of the judged steps of a family. */
  int[] of(Family family) {
    return IntStream.range(0, steps.size())
        .filter(i -> families.get(i) == family && judged.get(i))
        .toArray();
  }

  /**
   * V. Korthikanti et al., <i>Reducing activation recomputation in large transformer models</i>,
   * arXiv:2205.05198, table 5, as Calculon's repository holds it.
   */
  private static TrainingTable largest(Path json) {
    StringBuilder csv = new StringBuilder();
    csv.append("id,machine,model,layers,hidden,heads,ffn,sequence,vocabulary,devices,global_batch,")
        .append("micro_batch,tensor,pipeline,data,interleave,zero,tied,recompute,")
        .append("sequence_parallel,attention,precision,framework,iteration_s\n");
    for (JsonNode each : JsonMapper.shared().readTree(json.toFile()).path("cases")) {
      JsonNode network = each.path("application");
      JsonNode run = each.path("execution");
      String model = each.path("model").asString();
      csv.append(model)
          .append('-')
          .append(each.path("mode").asString())
          .append(",a100-80g-8x1600g,")
          .append(model);
      for (String key : List.of("num_blocks", "hidden", "attn_heads", "feedforward", "seq_size")) {
        csv.append(',').append(network.path(key).asInt());
      }
      csv.append(",51200");
      for (String key :
          List.of(
              "num_procs",
              "batch_size",
              "microbatch_size",
              "tensor_par",
              "pipeline_par",
              "data_par",
              "pipeline_interleaving")) {
        csv.append(',').append(run.path(key).asInt());
      }
      boolean sequence = run.path("tensor_par_comm_type").asString().equals("rs_ag");
      csv.append(",0,1,")
          .append(RECOMPUTE.get(run.path("activation_recompute").asString()))
          .append(sequence ? ",1" : ",0")
          .append(",standard,fp16,megatron-2022,")
          .append(each.path("published_iter_s").asDouble())
          .append('\n');
    }
    return table(csv.toString());
  }

  private static TrainingTable read(Path csv, boolean notes) {
    TrainingTable table = TrainingTable.read(csv);
    int note = table.headings().indexOf("note");
    return notes && note >= 0 ? withNotes(csv, table, note) : table;
  }

  private static TrainingTable withNotes(Path csv, TrainingTable table, int note) {
    try {
      List<String> lines = Files.readAllLines(csv);
      StringBuilder text =
          new StringBuilder(lines.getFirst()).append(",eager,async_tensor_parallel\n");
      for (int i = 0; i < table.rows().size(); i++) {
        String said = table.rows().get(i).cells().get(note);
        text.append(lines.get(i + 1))
            .append(said.contains("eager") ? ",1" : ",0")
            .append(said.contains("async-tp") ? ",1\n" : ",0\n");
      }
      return table(text.toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads rows that are no file. */
  static TrainingTable table(String csv) {
    try {
      Path file = Files.createTempFile("largest", ".csv");
      try {
        Files.writeString(file, csv);
        return TrainingTable.read(file);
      } finally {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
