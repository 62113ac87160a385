package dev.pipewright.app.cli;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.formats.BadInputException;
import dev.pipewright.formats.ClusterYaml;
import dev.pipewright.formats.ParadlPlatform;
import dev.pipewright.zoo.Clusters;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Finds the cluster that a user means: of the zoo, or in a file. */
final class ClusterNames {
  private ClusterNames() {}

  static Cluster resolve(String name) {
    Optional<Cluster> zoo;
    try {
      zoo = Clusters.find(name);
    } catch (IllegalArgumentException e) {
      throw new BadInputException(String.valueOf(e.getMessage()));
    }
    if (zoo.isPresent()) {
      return zoo.get();
    }
    Path path = Values.file("the cluster", name);
    if (name.isEmpty() || !Files.exists(path)) {
      throw new BadInputException(
          "no cluster '"
              + name
              + "'; "
              + Suggestion.near(name, Clusters.names())
                  .orElse("give a YAML file or one of " + String.join(", ", Clusters.names())));
    }
    return path.toString().endsWith(".plat") ? ParadlPlatform.read(path) : ClusterYaml.read(path);
  }

  /** How a file elsewhere names the same cluster: as here, but a file by its whole path. */
  static String anywhere(String name) {
    return isFile(name)
        ? Values.file("the cluster", name).toAbsolutePath().normalize().toString()
        : name;
  }

  private static boolean isFile(String name) {
    try {
      return Clusters.find(name).isEmpty();
    } catch (IllegalArgumentException e) {
      return false;
    }
  }
}
