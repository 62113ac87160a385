package dev.pipewright.solver;

import com.google.ortools.Loader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The native library of CP-SAT. OR-Tools unpacks it into a new temporary folder that only its owner
 * can enter, 71 MB, and removes that when the JVM ends as it should. It is removed here as soon as
 * the library is loaded, so that no other end leaves it behind.
 */
final class NativeSolver {
  private static final Path LOADED_FILES = Path.of("/proc/self/maps"); // on Linux
  private static final String FOLDER = "ortools-java";

  private NativeSolver() {}

  static void load() {
    Loader.loadNativeLibraries();
    try {
      for (Path folder : folders()) {
        remove(folder);
      }
    } catch (IOException e) {
      // the end of the JVM removes it
    }
  }

  private static List<Path> folders() throws IOException {
    if (!Files.exists(LOADED_FILES)) {
      return List.of();
    }
    try (Stream<String> lines = Files.lines(LOADED_FILES)) {
      return lines
          .filter(line -> line.contains("/" + FOLDER))
          .map(NativeSolver::unpackedIn)
          .distinct()
          .filter(Files::isDirectory)
          .toList();
    }
  }

  /** The folder, from a line that ends with a file in it. */
  private static Path unpackedIn(String line) {
    int end = line.indexOf('/', line.indexOf("/" + FOLDER) + 1);
    return Path.of(line.substring(line.indexOf('/'), end));
  }

  private static void remove(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
