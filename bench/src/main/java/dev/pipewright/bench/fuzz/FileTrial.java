package dev.pipewright.bench.fuzz;

import dev.pipewright.bench.fuzz.Campaign.Finding;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Files of a kind, given to the commands that read them. */
record FileTrial(Target target, Seeds seeds, Path folder) implements Trial {
  @Override
  public String name() {
    return target.name();
  }

  @Override
  public Optional<Finding> one(Runner runner, int number, long seed) {
    String words = name().replace(' ', '-');
    Path file = folder.resolve(words).resolve(target.file());
    byte[] damaged = new Mutation(seed).of(target.seed());
    write(file, damaged);
    String line = target.commands().get(Math.floorMod((int) seed, target.commands().size()));
    List<String> command = new ArrayList<>();
    for (String word : seeds.filled(line)) {
      command.add(word.replace("@", file.toString()));
    }
    Optional<Finding> finding =
        runner.judged(name(), number, command, file.toString(), target.lines());
    if (finding.isPresent()) {
      write(folder.resolve("finding-%s-%d-%s".formatted(words, number, target.file())), damaged);
    }
    return finding;
  }

  /** Writes a file, and its folder before it. */
  static void write(Path file, byte[] bytes) {
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
      Files.write(file, bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
