package dev.pipewright.runtime.training;

import dev.pipewright.execution.CheckpointService;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.runtime.checkpoint.Checkpoint;
import dev.pipewright.runtime.checkpoint.Checkpoints;
import dev.pipewright.runtime.checkpoint.ForeignParameters;
import dev.pipewright.runtime.checkpoint.Manifest;
import dev.pipewright.runtime.checkpoint.MergedFile;
import dev.pipewright.runtime.checkpoint.Shards;
import dev.pipewright.runtime.checkpoint.TensorFile;
import dev.pipewright.runtime.net.Network;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.net.Part;
import dev.pipewright.runtime.net.Tied;
import dev.pipewright.runtime.tensor.Scope;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.SequencedMap;

/** Checkpoints as files of safetensors, and back. */
public final class CheckpointFiles implements CheckpointService {
  private static final String SHARD = "stage-0.safetensors";

  @Override
  public ParameterSet merge(String checkpoint, String file) {
    Checkpoint open = Checkpoint.open(Resumption.find("checkpoint", Path.of(checkpoint)));
    SequencedMap<String, TensorFile.Entry> merged = MergedFile.write(open, Path.of(file));
    Manifest manifest = open.manifest();
    return parameters(manifest.model(), manifest.step(), merged.values(), file);
  }

  @Override
  public ParameterSet start(String file, String model, OptionalInt sequence, String folder) {
    LayerGraph graph = RunnableModel.toCompute(model, sequence);
    RunnableModel.requireOperators(model, graph);
    TensorFile given = TensorFile.open(Path.of(file));
    SequencedMap<String, TensorFile.Entry> chosen =
        new ForeignParameters(graph.name(), shapes(graph), tied(graph)).in(given);
    try (OutputFolder out = OutputFolder.of(Path.of(folder))) {
      if (out == null || Trainer.holdsRun(out.path())) {
        throw new BadInputException(
            "--out: %s holds another run; name another folder".formatted(folder));
      }
      out.requireInside(Trainer.CHECKPOINTS);
      Checkpoints checkpoints = new Checkpoints(out.folder(Trainer.CHECKPOINTS), 1).requireInside();
      Manifest.Shard shard = Shards.copy(checkpoints.begin(0), SHARD, chosen);
      Map<String, String> settings = new LinkedHashMap<>(Manifest.fresh());
      settings.putAll(Manifest.tied(tied(graph)));
      Path made =
          checkpoints.commit(
              new Manifest(0, 0, 0, graph.name(), "imported parameters", settings, List.of(shard)));
      return parameters(graph.name(), 0, chosen.values(), made.toString());
    }
  }

  private static ParameterSet parameters(
      String model, long step, Collection<TensorFile.Entry> tensors, String written) {
    long elements = tensors.stream().mapToLong(TensorFile.Entry::elements).sum();
    return new ParameterSet(model, step, tensors.size(), elements, written);
  }

  /** The extents of all parameters and running averages, by name. */
  private static SequencedMap<String, long[]> shapes(LayerGraph graph) {
    SequencedMap<String, long[]> shapes = new LinkedHashMap<>();
    try (Scope scope = new Scope()) {
      Network network = new Network(Chain.of(graph), 0);
      for (int layer : graph.topological()) {
        Part part = network.layer(layer);
        for (List<Parameter> held : List.of(part.parameters(), part.averages())) {
          held.forEach(own -> shapes.put(own.name(), own.value().shape()));
        }
      }
    }
    return shapes;
  }

  /** The names of tied tables, by those of their copies. */
  static Map<String, String> tied(LayerGraph graph) {
    Map<String, String> tables = new LinkedHashMap<>();
    for (Tied tied : new Network(Chain.of(graph), 0).tied()) {
      tables.put(tied.copy(), tied.parameter());
    }
    return tables;
  }
}
