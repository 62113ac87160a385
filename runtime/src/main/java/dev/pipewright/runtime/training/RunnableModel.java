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
import java.util.OptionalInt;

/** A network by the name that a request gives. */
public final class RunnableModel {
  private RunnableModel() {}

  /** A network with its usual samples. */
  public static LayerGraph of(String model) {
    return of(model, OptionalInt.empty());
  }

  /**
   * A network of the zoo, or of a file. Throws {@link BadInputException} where there is none.
   *
   * @param sequence tokens of a sample; the network's usual ones where empty
   */
  public static LayerGraph of(String model, OptionalInt sequence) {
    if (Files.exists(Path.of(model))) {
      return ModelFiles.graph(Path.of(model), sequence);
    }
    return named(model, sequence)
        .map(ZooModel::graph)
        .orElseThrow(() ->
            new BadInputException(
                model + ": no such model; give a file or a name that `models` lists"));
  }

  /**
   * A network to compute with. Throws {@link BadInputException} where there is none, and where a
   * block is of a shape that no module computes or a file does not say what each layer computes.
   */
  public static LayerGraph toCompute(String model, OptionalInt sequence) {
    LayerGraph graph = of(model, sequence);
    (Files.exists(Path.of(model)) ? Computable.refusal(graph) : Computable.lacking(graph))
        .ifPresent(why -> refuse(model, why));
    return graph;
  }

  /** Throws {@link BadInputException} where it is not known what some layer computes. */
  static void requireOperators(String model, LayerGraph graph) {
    Computable.undescribed(graph).ifPresent(why -> refuse(model, why));
  }

  private static void refuse(String model, String why) {
    throw new BadInputException(model + ": this network cannot be trained or measured: " + why);
  }

  private static Optional<ZooModel> named(String model, OptionalInt sequence) {
    try {
      return Models.find(model, sequence);
    } catch (IllegalArgumentException e) {
      throw new BadInputException(String.valueOf(e.getMessage()));
    }
  }
}
