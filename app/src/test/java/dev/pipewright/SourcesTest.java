package dev.pipewright;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the sources of all modules keep to. */
class SourcesTest {
  private static final List<String> MODULES =
      List.of("core", "formats", "solver", "runtime", "app");

  private static final Pattern CLOCKS =
      Pattern.compile("nanoTime|currentTimeMillis|assertTimeout|Instant\\.now|StopWatch");

  private static List<Path> sources(String kind) throws IOException {
    List<Path> sources = new ArrayList<>();
    for (String module : MODULES) {
      try (Stream<Path> files = Files.walk(Path.of("..", module, "src", kind, "java"))) {
        files.filter(file -> file.toString().endsWith(".java")).forEach(sources::add);
      }
    }
    assertTrue(sources.size() > 200, "too few sources: " + sources.size());
    return sources;
  }

  @Test
  void aTypesNameStandsForOneThing() throws IOException {
    TreeMap<String, Integer> count = new TreeMap<>();
    for (Path file : sources("main")) {
      String name = file.getFileName().toString().replace(".java", "");
      if (!name.endsWith("-info")) {
        count.merge(name, 1, Integer::sum);
      }
    }
    count.values().removeIf(times -> times == 1);
    assertEquals(Set.of(), count.keySet());
  }

  /** What passes on a fast machine alone proves nothing. */
  @Test
  void testsDoNotReadTheClock() throws IOException {
    List<String> found = new ArrayList<>();
    for (Path file : sources("test")) {
      boolean itself = file.endsWith("SourcesTest.java");
      if (!itself && CLOCKS.matcher(Files.readString(file)).find()) {
        found.add(file.toString());
      }
    }
    assertEquals(List.of(), found);
  }
}
