package dev.pipewright.formats.problem;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.formats.cluster.ClusterYaml;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.FileNames;
import dev.pipewright.formats.file.Suggestion;
import dev.pipewright.formats.paradl.ParadlPlatform;
import dev.pipewright.zoo.Clusters;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds the cluster that a user means: of the zoo, or in a file. */
public final class ClusterNames {
  /** A number of devices before their kind: {@code 8xH100}, {@code 64 A100}. */
  private static final Pattern COUNT =
      Pattern.compile("^\\s*([1-9]\\d{0,4})\\s*[x×*_-]?\\s*[a-zA-Z]");

  private static final int MOST = 4; // suggestions

  private ClusterNames() {}

  public static Cluster resolve(String name) {
    Optional<Cluster> zoo;
    try {
      zoo = Clusters.find(name);
    } catch (IllegalArgumentException e) {
      throw new BadInputException(String.valueOf(e.getMessage()));
    }
    if (zoo.isPresent()) {
      return zoo.get();
    }
    Path path = FileNames.file("the cluster", name);
    if (name.isEmpty() || !(Files.exists(path) || name.equals("-"))) {
      FileNames.requireNoPath("cluster", name);
      throw new BadInputException("no cluster '" + name + "'; " + meant(name));
    }
    return path.toString().endsWith(".plat") ? ParadlPlatform.read(path) : ClusterYaml.read(path);
  }

  /** What an unknown name may mean: a mistyped one, or devices such as {@code 8xH100}. */
  private static String meant(String name) {
    int colon = name.indexOf(':');
    String base = colon < 0 ? name : name.substring(0, colon);
    List<String> alike = alike(base);
    if (alike.isEmpty()) {
      return Suggestion.near(base, Clusters.names())
          .orElse("give a YAML file or one of " + String.join(", ", Clusters.names()));
    }
    List<String> meant = new ArrayList<>(alike.subList(0, Math.min(MOST, alike.size())));
    meant.set(0, meant.get(0) + size(name));
    String last = meant.remove(meant.size() - 1);
    return "did you mean "
        + (meant.isEmpty() ? "" : String.join(", ", meant) + " or ")
        + last
        + "?";
  }

  /** The size of a cluster that has as many devices as were named, eight in a machine. */
  private static String size(String name) {
    Matcher count = COUNT.matcher(name);
    if (!count.find()) {
      return "";
    }
    int devices = Integer.parseInt(count.group(1));
    return devices <= 8 ? ":1x" + devices : ":" + (devices + 7) / 8 + "x8";
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

  private static String device(String cluster) {
    return Clusters.find(cluster).orElseThrow().device(0).name();
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
      return Clusters.find(name).isEmpty();
    } catch (IllegalArgumentException e) {
      return false;
    }
  }
}
