package dev.pipewright.formats.cluster;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Beginning;
import dev.pipewright.formats.paradl.ParadlPlatform;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** Reads a cluster file of any format that is known here, recognised by its content. */
public final class ClusterFiles {
  /** A format; a file is of the first one that it begins like. */
  private record Format(Predicate<String> begins, Function<Path, Cluster> reader) {}

  private static final List<Format> KNOWN =
      List.of(
          new Format(SlurmNodes::begins, SlurmNodes::read),
          new Format(GpuTopology::begins, GpuTopology::refuse),
          new Format(AiConfiguratorSystem::begins, AiConfiguratorSystem::read),
          new Format(CalculonSystem::begins, CalculonSystem::read));

  private static final Pattern OURS = Pattern.compile("(?m)^\\s*[{,]?\\s*\"?levels\"?\\s*:");

  private ClusterFiles() {}

  /** Whether a file begins like one that describes a cluster; its reader may still refuse it. */
  public static boolean isCluster(Path file) {
    String start = Beginning.of(file);
    return file.toString().endsWith(".plat")
        || KNOWN.stream().anyMatch(format -> format.begins().test(start))
        || OURS.matcher(start).find();
  }

  /** The cluster of a file; throws {@link BadInputException} where it describes none. */
  public static Cluster read(Path file) {
    if (file.toString().endsWith(".plat")) {
      return ParadlPlatform.read(file);
    }
    String start = Beginning.of(file);
    return KNOWN.stream()
        .filter(format -> format.begins().test(start))
        .findFirst()
        .map(format -> format.reader().apply(file))
        .orElseGet(() -> ClusterYaml.read(file));
  }

  /**
   * The cluster of a file that does not say which devices it has.
   *
   * @param machine a name of theirs
   */
  public static Cluster read(Path file, String machine) {
    if (!GpuTopology.begins(Beginning.of(file))) {
      throw new BadInputException(
          "--for: %s says itself which devices it has; leave --for out".formatted(file));
    }
    return GpuTopology.read(file, machine);
  }
}
