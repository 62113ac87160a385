package dev.pipewright.server.study;

import dev.pipewright.app.cli.CommandLineProgram;
import dev.pipewright.server.store.KeptStudy;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * Answers a study with the command line's own program, in this process: an answer is what {@code
 * --json} prints, to the byte. One thread at a time.
 */
final class StudyRunner {
  private static final int WRONG_INPUT = 2;
  private static final long MOST_BYTES = 64L << 20; // of the files of a study
  private static final String PREFIX = "pipewright: ";

  /** What came of a run. */
  sealed interface Result {
    record Answered(KeptStudy study, Map<String, byte[]> files) implements Result {}

    /** A user's mistake. */
    record Refused(String sentence) implements Result {}

    record Failed(String sentence) implements Result {}
  }

  private final CommandLineProgram program = new CommandLineProgram();

  /** Pipewright's version. */
  static String version() {
    StringWriter version = new StringWriter();
    PrintWriter nowhere = new PrintWriter(new StringWriter());
    new CommandLineProgram().run(new PrintWriter(version), nowhere, "--version");
    return version.toString().strip();
  }

  Result run(String id, List<String> command, String version, BooleanSupplier cancelled)
      throws IOException {
    Path folder = Files.createTempDirectory("pipewright-study-");
    try {
      StringWriter answer = new StringWriter();
      StringWriter words = new StringWriter();
      List<String> whole = new ArrayList<>(command);
      whole.addAll(List.of("--out", folder.resolve("out").toString()));
      int status =
          program.run(
              new PrintWriter(answer),
              new PrintWriter(words),
              cancelled,
              whole.toArray(String[]::new));
      String remarks = remarks(words.toString());
      if (status == WRONG_INPUT) {
        return new Result.Refused(remarks);
      }
      if (status > WRONG_INPUT) {
        return new Result.Failed(remarks);
      }
      boolean ended = remarks.contains("the search was ended early");
      KeptStudy study =
          new KeptStudy(
              id,
              command,
              version,
              Instant.now(),
              ended,
              Headline.of(answer.toString()),
              answer.toString(),
              remarks);
      return new Result.Answered(study, files(folder.resolve("out")));
    } finally {
      delete(folder);
    }
  }

  /** What the command said besides its answer, without the folder of this run. */
  private static String remarks(String words) {
    return words
        .lines()
        .filter(line -> line.startsWith(PREFIX))
        .map(line -> line.substring(PREFIX.length()))
        .reduce("", (all, line) -> all.isEmpty() ? line : all + "\n" + line);
  }

  private static Map<String, byte[]> files(Path folder) throws IOException {
    Map<String, byte[]> files = new TreeMap<>();
    if (!Files.isDirectory(folder)) {
      return files;
    }
    long bytes = 0;
    try (Stream<Path> found = Files.list(folder)) {
      for (Path file : found.sorted(Comparator.naturalOrder()).toList()) {
        String name = file.getFileName().toString();
        bytes += Files.size(file);
        if (name.charAt(0) != '.' && bytes <= MOST_BYTES) {
          files.put(name, Files.readAllBytes(file));
        }
      }
    }
    return files;
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> found = Files.walk(folder)) {
      for (Path file : found.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
