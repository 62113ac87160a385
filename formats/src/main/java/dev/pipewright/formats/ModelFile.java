package dev.pipewright.formats;

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
 */
public record ModelFile(LayerGraph graph, Profile profile, Optional<Training> training) {
  public ModelFile {
    Check.that(
        graph.size() == profile.layers(),
        "a profile describes each layer: model=%s, layers=%d, profiled=%d",
        graph.name(),
        graph.size(),
        profile.layers());
  }
}
