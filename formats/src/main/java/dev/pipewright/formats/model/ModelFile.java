package dev.pipewright.formats.model;

import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Training;
import dev.pipewright.profile.Profile;
import dev.pipewright.units.Check;
import java.util.Optional;

/**
 * What a file says about a network.
 *
 * @param graph its layers and edges
 * @param profile times and sizes of the layers, in the graph's order
 * @param training optimizer and precision, where the file names them
 * @param dataset what the network is trained on, where the file says
 */
public record ModelFile(
    LayerGraph graph, Profile profile, Optional<Training> training, Optional<Dataset> dataset)
    implements DescribedModel {

  /**
   * What a network is trained on.
   *
   * @param samples of an epoch
   */
  public record Dataset(String name, long samples) {
    public Dataset {
      Check.that(
          samples >= 1, "an epoch has samples: dataset=%s, samples_per_epoch=%d", name, samples);
    }
  }

  public ModelFile {
    Check.that(
        graph.size() == profile.layers(),
        "a profile describes each layer: model=%s, layers=%d, profiled=%d",
        graph.name(),
        graph.size(),
        profile.layers());
  }

  /** A network whose dataset the file does not say. */
  public ModelFile(LayerGraph graph, Profile profile, Optional<Training> training) {
    this(graph, profile, training, Optional.empty());
  }
}
