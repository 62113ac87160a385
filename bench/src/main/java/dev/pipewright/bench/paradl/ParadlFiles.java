package dev.pipewright.bench.paradl;

import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.formats.catalog.ModelFiles;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.formats.paradl.ParadlSwitches;
import dev.pipewright.model.LayerGraph;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What ParaDL's authors published: networks, switches, answers of their program, measured runs. */
record ParadlFiles(Path folder) {
  static ParadlFiles of(Reference reference) {
    return new ParadlFiles(reference.folder().resolve("paradl"));
  }

  ModelFile network(String file) {
    return ModelFiles.read(folder.resolve(file), OptionalInt.empty(), Optional.empty());
  }

  /** For each layer of {@code graph} whether the strategy applies to it. */
  List<Boolean> switches(String file, LayerGraph graph) {
    List<Boolean> applies = new ArrayList<>();
    for (boolean layer : ParadlSwitches.read(folder.resolve(file), graph)) {
      applies.add(layer);
    }
    return applies;
  }

  /** The bars of figure 3 for ResNet-50. */
  List<MeasuredIteration> measured() {
    JsonNode file = JsonMapper.shared().readTree(folder.resolve("figure2-measured.json").toFile());
    List<MeasuredIteration> rows = new ArrayList<>();
    for (JsonNode row : file.path("rows")) {
      rows.add(MeasuredIteration.of(row));
    }
    return rows;
  }

  /** The answers of the authors' program. */
  List<ScriptRun> scriptRuns() {
    List<ScriptRun> runs = new ArrayList<>();
    for (JsonNode run :
        JsonMapper.shared().readTree(folder.resolve("script-results.json").toFile())) {
      runs.add(ScriptRun.of(run));
    }
    return runs;
  }
}
