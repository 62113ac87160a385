package dev.pipewright.app.cli.launch;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.OutputFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The hosts on which a run has started, by rank, as its folder keeps them. A requeued job that gets
 * fewer nodes learns from it which devices of the plan are left.
 */
public final class RunHosts {
  private static final String NAME = "hosts.txt";

  private RunHosts() {}

  /** The hosts of this start by rank, where the launcher is Slurm with one rank for each. */
  private static Optional<List<String>> now(Map<String, String> environment, int ranks) {
    return Optional.ofNullable(environment.get("SLURM_JOB_NODELIST"))
        .map(HostList::all)
        .filter(hosts -> hosts.size() == ranks);
  }

  /** Keeps the hosts of a start with all ranks, where the launcher says them. */
  public static void keep(Map<String, String> environment, int ranks, Path run) {
    Optional<List<String>> hosts = now(environment, ranks);
    if (hosts.isPresent()) {
      try (OutputFolder folder = Objects.requireNonNull(OutputFolder.of(run, NAME))) {
        folder.write(NAME, String.join("\n", hosts.get()) + "\n");
      }
    }
  }

  /**
   * Which ranks of the start with all ranks the ranks of this one stand for: hosts that were there
   * keep theirs, others take what is left; the first ones where hosts are not known.
   *
   * @param all ranks of the first start
   * @param ranks of this one, fewer
   */
  public static List<Integer> left(
      Map<String, String> environment, int all, int ranks, Optional<Path> run) {
    List<String> before = run.map(RunHosts::read).orElse(List.of());
    Optional<List<String>> now = now(environment, ranks);
    if (before.size() != all || now.isEmpty()) {
      return IntStream.range(0, ranks).boxed().toList();
    }
    List<Integer> left = now.get().stream().map(before::indexOf).toList();
    Iterator<Integer> free =
        IntStream.range(0, all).filter(rank -> !left.contains(rank)).iterator();
    return left.stream().map(rank -> rank < 0 ? free.next() : rank).toList();
  }

  private static List<String> read(Path run) {
    Path file = run.resolve(NAME);
    try {
      return Files.exists(file) ? Files.readAllLines(file) : List.of();
    } catch (IOException e) {
      throw new BadInputException(file + " cannot be read; remove it, or make it readable");
    }
  }
}
