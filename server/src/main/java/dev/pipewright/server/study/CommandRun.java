package dev.pipewright.server.study;

import dev.pipewright.app.cli.CommandLineProgram;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * What the command line's own program, run in this process, answered.
 *
 * @param status 0 done, 1 the answer is no, 2 the input is wrong, 3 a failure
 * @param answer what it printed
 * @param remarks what it said besides, a sentence a line
 */
public record CommandRun(int status, String answer, String remarks) {
  public static final int WRONG_INPUT = 2;
  private static final long MOST_BYTES = 64L << 20; // of the files of a run
  private static final String PREFIX = "pipewright: ";

  /** Runs a command line; {@code cancelled} ends its search with the best so far. */
  public static CommandRun of(
      CommandLineProgram program, BooleanSupplier cancelled, List<String> command) {
    StringWriter answer = new StringWriter();
    StringWriter words = new StringWriter();
    int status =
        program.run(
            new PrintWriter(answer),
            new PrintWriter(words),
            cancelled,
            command.toArray(String[]::new));
    return new CommandRun(status, answer.toString(), remarks(words.toString()));
  }

  private static String remarks(String words) {
    return words
        .lines()
        .filter(line -> line.startsWith(PREFIX))
        .map(line -> line.substring(PREFIX.length()))
        .reduce("", (all, line) -> all.isEmpty() ? line : all + "\n" + line);
  }

  /** The files that a command wrote into a folder, by name. */
  public static Map<String, byte[]> files(Path folder) throws IOException {
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

  /** Deletes a folder with all that is in it. */
  public static void delete(Path folder) throws IOException {
    try (Stream<Path> found = Files.walk(folder)) {
      for (Path file : found.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
