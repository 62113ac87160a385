package dev.pipewright;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.planner.catalog.PlannerCatalog;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the sources of all modules keep to. */
class SourcesTest {
  private static final List<String> MODULES =
      List.of("core", "formats", "solver", "runtime", "app", "server");

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

  private static final Pattern COMMENT = Pattern.compile("/\\*.*?\\*/|//[^\n]*", Pattern.DOTALL);
  private static final Pattern LITERAL = Pattern.compile("\"((?:\\\\.|[^\"\\\\\n])*)\"");

  /** Names that mean something else, too. */
  private static final Set<String> COMMON_WORDS =
      Set.of("auto", "capture", "dapple", "data", "exact", "placement");

  /** Where names of schedules and planners still stand; the list may only get shorter. */
  private static final Set<String> NAMING =
      Set.of(
          "ClassDataWarmUp", // examples that are run
          "PeriodicReader",
          "TrainArgument"); // the default

  /** So a schedule or planner is added in its own file and one line of a catalogue. */
  @Test
  void schedulesAndPlannersAreNamedInTheirOwnRooms() throws IOException {
    Set<String> names = new TreeSet<>();
    ScheduleCatalog.entries().forEach(entry -> names.add(entry.name()));
    PlannerCatalog.names().forEach(names::add);
    names.removeAll(COMMON_WORDS);
    Set<String> naming = new TreeSet<>();
    for (Path file : sources("main")) {
      boolean own =
          Stream.of("schedule", "planner", "solver")
              .anyMatch(room -> file.toString().contains("/pipewright/" + room + "/"));
      String code = COMMENT.matcher(Files.readString(file)).replaceAll("");
      if (!own && LITERAL.matcher(code).results().anyMatch(l -> names.contains(l.group(1)))) {
        naming.add(file.getFileName().toString().replace(".java", ""));
      }
    }
    assertEquals(new TreeSet<>(NAMING), naming);
  }

  /** The command line shows kinds of answers; it does not know who gives them. */
  @Test
  void noTypeOfTheCommandLineIsNamedAfterAPlanner() throws IOException {
    Set<String> names = new TreeSet<>(PlannerCatalog.names().toList());
    names.removeAll(COMMON_WORDS);
    List<String> found = new ArrayList<>();
    int looked = 0;
    for (Path file : sources("main")) {
      if (file.toString().contains("/pipewright/app/")) {
        String type = file.getFileName().toString().toLowerCase(Locale.ROOT);
        looked++;
        names.stream()
            .filter(name -> type.startsWith(name.replace("-", "")))
            .forEach(name -> found.add(file.toString()));
      }
    }
    assertTrue(looked > 100, "too few types: " + looked);
    assertEquals(List.of(), found);
  }
}
