package dev.pipewright.runtime.training;

import dev.pipewright.formats.catalog.ModelFiles;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.runtime.net.Computable;
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.ZooModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** A network by the name that a request gives. */
public final class RunnableModel {
  private RunnableModel() {}

  /** A network of the zoo, or of a file. Throws {@link BadInputException} where there is none. */
  public static LayerGraph of(String model) {
    if (Files.exists(Path.of(model))) {
      return ModelFiles.graph(Path.of(model));
    }
    return named(model)
        .map(ZooModel::graph)
        .orElseThrow(() ->
            new BadInputException(
                model + ": no such model; give a file or a name that `models` lists"));
  }

  /**
   * A network to compute with. Throws {@link BadInputException} where there is none, and where a
   * block is of a shape that no module computes or a file does not say what each layer computes.
   */
  public static LayerGraph toCompute(String model) {
    LayerGraph graph = of(model);
    (Files.exists(Path.of(model)) ? Computable.refusal(graph) : Computable.lacking(graph))
        .ifPresent(why -> {
          throw new BadInputException(
              model + ": this network cannot be trained or measured: " + why);
        });
    return graph;
  }

  private static Optional<ZooModel> named(String model) {
    try {
      return Models.find(model);
    } catch (IllegalArgumentException e) {
      throw new BadInputException(String.valueOf(e.getMessage()));
    }
  }
}
