package dev.pipewright;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Classes and packages that pages of {@code docs} name exist. */
class DocumentedNamesTest {
  private static final Path ROOT = Path.of("..");
  private static final Path DOCS = ROOT.resolve("docs");

  /** A class, perhaps with its package in front and a member or a nested class behind. */
  private static final Pattern CLASS =
      Pattern.compile("((?:[a-z]\\w*\\.)*)([A-Z]\\w*[a-z]\\w*)((?:\\.\\w+)*)");

  /** Names of the JDK, of Error Prone and of its checks. */
  private static final Set<String> FOREIGN =
      Set.of(
          "AnnotateFormatMethod",
          "ArrayRecordComponent",
          "AutoCreateSharedArchive",
          "IllegalArgumentException",
          "MessageDigest");

  private static final Pattern CODE = Pattern.compile("`([^`\n]+)`");
  private static final Pattern ROW = Pattern.compile("(?m)^\\| `([a-z.]+)` \\|");

  /** The text of each class by its simple name, and the packages that have one so called. */
  private record Sources(Map<String, String> texts, Map<String, Set<String>> packages) {
    static Sources read() throws IOException {
      Map<String, String> texts = new TreeMap<>();
      Map<String, Set<String>> packages = new TreeMap<>();
      for (String module :
          List.of("core", "formats", "solver", "runtime", "app", "server", "bench")) {
        for (String kind : List.of("main", "test")) {
          Path top = ROOT.resolve(module).resolve("src/" + kind + "/java");
          try (Stream<Path> files = Files.walk(top)) {
            for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
              String name = file.getFileName().toString().replace(".java", "");
              texts.merge(name, Files.readString(file), String::concat);
              packages
                  .computeIfAbsent(name, any -> new TreeSet<>())
                  .add(packageOf(top.relativize(file)));
            }
          }
        }
      }
      return new Sources(texts, packages);
    }

    private static String packageOf(Path file) {
      String all = file.toString().replace('\\', '/').replace('/', '.');
      return all.replaceFirst("[^.]+\\.java$", "").replaceFirst("^dev\\.pipewright\\.", "");
    }

    /** Whether there is such a class with such members. */
    boolean have(MatchResult found) {
      String text = texts.get(found.group(2));
      boolean there =
          packages.getOrDefault(found.group(2), Set.of()).stream()
              .anyMatch(name -> ("." + name).endsWith("." + found.group(1)));
      if (text == null || (!found.group(1).isEmpty() && !there)) {
        return false;
      }
      return Stream.of(found.group(3).split("\\."))
          .allMatch(member -> Pattern.compile("\\b" + member + "\\b").matcher(text).find());
    }
  }

  private static List<String> unknown(String page) throws IOException {
    Sources sources = Sources.read();
    List<String> unknown = new ArrayList<>();
    List<MatchResult> spans = CODE.matcher(Files.readString(DOCS.resolve(page))).results().toList();
    assertTrue(spans.size() > 10, page);
    for (MatchResult span : spans) {
      var name = CLASS.matcher(span.group(1));
      if (name.matches()
          && !FOREIGN.contains(name.group())
          && !sources.have(name.toMatchResult())) {
        unknown.add(span.group(1));
      }
    }
    return unknown;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "architecture.md",
        "api.md",
        "decisions.md",
        "glossary.md",
        "papers.md",
        "add-a-schedule.md",
        "add-a-planner.md",
        "add-a-format.md",
        "add-a-strategy.md"
      })
  void everyClassThatAPageNamesExists(String page) throws IOException {
    assertEquals(List.of(), unknown(page));
  }

  @Test
  void theArchitecturePageHasEveryPackageOnce() throws IOException {
    List<String> listed =
        ROW.matcher(Files.readString(DOCS.resolve("architecture.md")))
            .results()
            .map(row -> row.group(1))
            .sorted()
            .toList();
    Set<String> all = new TreeSet<>();
    for (String module : List.of("core", "formats", "solver", "runtime", "app", "server")) {
      Path top = ROOT.resolve(module).resolve("src/main/java");
      try (Stream<Path> files = Files.walk(top)) {
        files
            .filter(path -> path.endsWith("package-info.java"))
            .map(file -> Sources.packageOf(top.relativize(file)))
            .map(name -> name.substring(0, name.length() - 1))
            .forEach(all::add);
      }
    }
    assertEquals(List.copyOf(all), listed);
  }
}
