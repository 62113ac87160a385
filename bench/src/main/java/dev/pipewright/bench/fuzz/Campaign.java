package dev.pipewright.bench.fuzz;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Many damaged files and command lines, each answered in this process: never with an internal
 * failure, a stack trace, a number that is none or a hang, and with the file's name and line where
 * a file is refused. A case is made from its target's name and its number alone.
 */
public final class Campaign {
  /** What a case did wrong. */
  public record Finding(
      String target, int number, List<String> command, List<String> faults, String err) {
    @Override
    public String toString() {
      String said = err.strip().lines().findFirst().orElse("");
      return "%s %d: %s: `%s` said: %s"
          .formatted(
              target,
              number,
              String.join(", ", faults),
              String.join(" ", command),
              said.length() <= 400 ? said : said.substring(0, 400) + "…");
    }
  }

  private final Path folder;
  private final Seeds seeds;

  /** Works in an empty folder, where the files of findings stay. */
  public Campaign(Path folder) {
    this.folder = folder;
    this.seeds = new Seeds(folder.resolve("seeds"));
  }

  /** The names of all targets: kinds of files, then commands whose flags are tried. */
  public List<String> targets() {
    List<String> names = new ArrayList<>(seeds.targets().stream().map(Target::name).toList());
    CommandLines.COMMANDS.keySet().forEach(command -> names.add("flags of " + command));
    return names;
  }

  /** Runs cases {@code 0..count-1} of a target; targets may be run at once. */
  public List<Finding> run(String target, int count) {
    List<Finding> findings = new ArrayList<>();
    try (Runner runner = new Runner()) {
      for (int number = 0; number < count; number++) {
        one(runner, target, number).ifPresent(findings::add);
      }
    }
    return findings;
  }

  private Optional<Finding> one(Runner runner, String name, int number) {
    long seed = 31L * name.hashCode() + number;
    if (name.startsWith("flags of ")) {
      List<String> command =
          CommandLines.of(name.substring("flags of ".length()), seeds, new SplittableRandom(seed));
      return judged(runner, name, number, command, "", false);
    }
    Target target =
        seeds.targets().stream().filter(t -> t.name().equals(name)).findFirst().orElseThrow();
    Path file = folder.resolve(name.replace(' ', '-')).resolve(target.file());
    Mutation mutation = new Mutation(seed);
    byte[] damaged = mutation.of(target.seed());
    write(file, damaged);
    String line = target.commands().get(Math.floorMod((int) seed, target.commands().size()));
    List<String> command = new ArrayList<>();
    for (String word : seeds.filled(line)) {
      command.add(word.replace("@", file.toString()));
    }
    Optional<Finding> finding =
        judged(runner, name, number, command, file.toString(), target.lines());
    if (finding.isPresent()) {
      write(
          folder.resolve(
              "finding-%s-%d-%s".formatted(name.replace(' ', '-'), number, target.file())),
          damaged);
    }
    return finding;
  }

  private static Optional<Finding> judged(
      Runner runner, String name, int number, List<String> command, String file, boolean line) {
    Optional<Runner.Answer> answer = runner.run(command);
    if (answer.isEmpty()) {
      return Optional.of(new Finding(name, number, command, List.of("hangs"), ""));
    }
    List<String> faults = Runner.faults(answer.get(), file, line);
    return faults.isEmpty()
        ? Optional.empty()
        : Optional.of(new Finding(name, number, command, faults, answer.get().err()));
  }

  private static void write(Path file, byte[] bytes) {
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
      Files.write(file, bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
