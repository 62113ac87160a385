package dev.pipewright.formats.problem;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.formats.cluster.ClusterFiles;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.FileNames;
import dev.pipewright.formats.file.Suggestion;
import dev.pipewright.formats.machine.MachineClusters;
import dev.pipewright.formats.machine.UnnamedDevices;
import dev.pipewright.zoo.Clusters;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Finds the cluster that a user means: of the zoo, or in a file. */
public final class ClusterNames {
  private static final int MOST = 4; // suggestions

  private ClusterNames() {}

  public static Cluster resolve(String name) {
    Optional<Cluster> named = named(name);
    if (named.isPresent()) {
      return named.get();
    }
    Path path = FileNames.file("the cluster", name);
    if (name.isEmpty() || !(Files.exists(path) || name.equals("-"))) {
      FileNames.requireNoPath("cluster", name);
      throw new BadInputException("no cluster '" + name + "'; " + meant(name));
    }
    return ClusterFiles.read(path);
  }

  /** Throws {@link BadInputException} where no cluster that needs no file has that name. */
  public static void checkNamed(String name) {
    if (named(name).isEmpty()) {
      throw new BadInputException("no cluster '" + name + "'; " + meant(name));
    }
  }

  /** One of the zoo, or of machines with a data sheet. */
  private static Optional<Cluster> named(String name) {
    try {
      return Clusters.find(name)
          .or(() -> MachineClusters.find(name))
          .or(() -> UnnamedDevices.find(name));
    } catch (IllegalArgumentException e) {
      throw new BadInputException(String.valueOf(e.getMessage()));
    }
  }

  /** Whether a name says one kind of machines, and is no short name of several clusters. */
  public static boolean isMachine(String name) {
    return named(name).isPresent()
        && !MachineClusters.aliases().contains(name.toLowerCase(Locale.ROOT));
  }

  /** What an unknown name may mean: a mistyped one, or devices that it mentions. */
  private static String meant(String name) {
    String base = name.split(":", 2)[0];
    List<String> alike = alike(base);
    if (alike.isEmpty()) {
      List<String> names = new ArrayList<>(Clusters.names());
      names.addAll(MachineClusters.names());
      return Suggestion.near(base, names)
          .orElse("give a YAML file or one of " + String.join(", ", Clusters.names()));
    }
    List<String> meant = new ArrayList<>(alike.subList(0, Math.min(MOST, alike.size())));
    String last = meant.remove(meant.size() - 1);
    return "did you mean "
        + (meant.isEmpty() ? "" : String.join(", ", meant) + " or ")
        + last
        + "?";
  }

  /** Clusters whose names or devices a word mentions. */
  public static List<String> alike(String word) {
    List<String> names = new ArrayList<>(Suggestion.alike(word, Clusters.names()));
    for (String known : Clusters.names()) {
      if (!names.contains(known) && !Suggestion.alike(word, List.of(device(known))).isEmpty()) {
        names.add(known);
      }
    }
    return names;
  }

  /** All names of clusters whose devices are of a machine's kind. */
  public static List<String> of(String machine) {
    String kind = device(machine);
    List<String> names = new ArrayList<>(Clusters.names());
    names.addAll(MachineClusters.names());
    return names.stream().filter(name -> device(name).equals(kind)).toList();
  }

  private static String device(String cluster) {
    return resolve(cluster).device(0).name();
  }

  /** Whether there is a cluster or a file of that name. */
  public static boolean exists(String name) {
    return !isFile(name) || (!name.isEmpty() && Files.exists(FileNames.file("the cluster", name)));
  }

  /** How a file elsewhere names the same cluster: as here, but a file by its whole path. */
  public static String anywhere(String name) {
    return isFile(name)
        ? FileNames.file("the cluster", name).toAbsolutePath().normalize().toString()
        : name;
  }

  private static boolean isFile(String name) {
    try {
      return named(name).isEmpty();
    } catch (BadInputException e) {
      return false;
    }
  }
}
