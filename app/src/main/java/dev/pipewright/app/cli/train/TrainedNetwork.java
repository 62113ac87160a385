package dev.pipewright.app.cli.train;

import dev.pipewright.formats.catalog.ModelFiles;
import dev.pipewright.formats.file.FileNames;
import dev.pipewright.formats.problem.NetworkNames;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.zoo.ZooModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;

/** The network that is trained, by a name of the zoo or in a file. */
final class TrainedNetwork {
  private TrainedNetwork() {}

  /** The optimizer that a network is usually trained with; as `plan` assumes. */
  static Optimizer usualOptimizer(String network) {
    Path file = FileNames.file("the model", network);
    if (Files.exists(file)) {
      return ModelFiles.training(file).map(Training::optimizer).orElse(Optimizer.ADAM);
    }
    return NetworkNames.zooModel(network)
        .map(zoo -> zoo.training().optimizer())
        .orElse(Optimizer.ADAM);
  }

  /**
   * Its layers.
   *
   * @param tokens of a sample, where they are chosen
   */
  static LayerGraph graph(String network, OptionalInt tokens) {
    Path file = FileNames.file("the model", network);
    Optional<ZooModel> zoo =
        Files.exists(file) ? Optional.empty() : NetworkNames.zooModel(network, tokens);
    return zoo.map(ZooModel::graph)
        .orElseGet(() -> ModelFiles.graph(NetworkNames.modelFile(network), tokens));
  }
}
