package dev.pipewright.app.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleDescriptor.Exports;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a program sees that uses Pipewright on the module path: the library as {@code docs/api.md}
 * lists it, and no other package.
 */
class ModulePathTest {
  private static final String ALL = "dev.pipewright.";
  private static final Path ROOT = Path.of("..");

  /** A type of the library and its package, as the page's table of answers has them. */
  private static final Pattern ANSWER =
      Pattern.compile("(?m)^\\| `[A-Z][^|]+\\| (`[a-z.]+`(, `[a-z.]+`)*) \\|");

  @TempDir Path folder;

  // ---- the modules

  /** All of the class path that can be modules; the solver's native part cannot, by its name. */
  private static Stream<Path> modules() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
        .map(Path::of)
        .filter(Files::exists)
        .filter(path -> !path.endsWith("test-classes"))
        .filter(path -> !path.getFileName().toString().matches("ortools-.*-64-.*"));
  }

  private static Stream<ModuleDescriptor> ours() {
    return ModuleFinder.of(modules().toArray(Path[]::new)).findAll().stream()
        .map(ModuleReference::descriptor)
        .filter(module -> module.name().startsWith(ALL));
  }

  private static String path(Stream<Path> modules) {
    return modules.map(Path::toString).collect(Collectors.joining(File.pathSeparator));
  }

  /** What a program needs: core, formats, and the JSON and YAML that formats requires. */
  private static Stream<Path> library() {
    Pattern needed = Pattern.compile(".*(core/target/|formats/target/|jackson-|snakeyaml-).*");
    return modules().filter(path -> needed.matcher(path.toString().replace('\\', '/')).matches());
  }

  private static Set<String> exported() {
    return ours()
        .flatMap(module -> module.exports().stream())
        .filter(exports -> !exports.isQualified())
        .map(Exports::source)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Set<String> documented() throws IOException {
    Set<String> packages = new TreeSet<>(Set.of(ALL + "units")); // which their signatures use
    ANSWER
        .matcher(Files.readString(ROOT.resolve("docs/api.md")))
        .results()
        .flatMap(row -> Stream.of(row.group(1).split(", ")))
        .forEach(name -> packages.add(ALL + name.replace("`", "")));
    return packages;
  }

  @Test
  void thePackagesOfTheDocumentedTypesAreExported() throws IOException {
    assertEquals(documented(), exported());
  }

  @Test
  void whatIsExportedToAModuleIsImportedThere() throws IOException {
    Set<String> unused = new TreeSet<>();
    Map<String, String> sources = new HashMap<>();
    for (ModuleDescriptor module : ours().toList()) {
      for (Exports exports : module.exports()) {
        for (String target : exports.targets()) {
          String importing = target.substring(ALL.length());
          if (!sources.containsKey(importing)) {
            sources.put(importing, sources(ROOT.resolve(importing).resolve("src/main/java")));
          }
          Pattern name = Pattern.compile("import (static )?" + exports.source() + "\\.[A-Z]");
          if (!name.matcher(sources.get(importing)).find()) {
            unused.add(exports.toString());
          }
        }
      }
    }
    assertEquals(Set.of(), unused);
  }

  private static String sources(Path top) throws IOException {
    StringBuilder all = new StringBuilder();
    try (Stream<Path> files = Files.walk(top)) {
      for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
        all.append(Files.readString(file));
      }
    }
    return all.toString();
  }

  // ---- programs of a module of their own

  /** Compiles a module {@code consumer} of classes by name, and returns its errors. */
  private List<Diagnostic<? extends JavaFileObject>> compile(Map<String, String> classes)
      throws IOException {
    List<Path> files = new ArrayList<>();
    files.add(write("module-info", "module consumer { requires dev.pipewright.formats; }"));
    for (Map.Entry<String, String> entry : classes.entrySet()) {
      files.add(write(entry.getKey(), "package consumer; " + entry.getValue()));
    }
    JavaCompiler compiler = Objects.requireNonNull(ToolProvider.getSystemJavaCompiler());
    DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
    String out = compiled().toString(); // also as class path, which would be that of the tests
    List<String> options =
        List.of("--release", "21", "-p", path(library()), "--class-path", out, "-d", out);
    try (StandardJavaFileManager manager = compiler.getStandardFileManager(found, null, UTF_8)) {
      var sources = manager.getJavaFileObjectsFromPaths(files);
      boolean succeeds = compiler.getTask(null, manager, found, options, null, sources).call();
      var errors =
          found.getDiagnostics().stream()
              .filter(d -> d.getKind() == Diagnostic.Kind.ERROR)
              .toList();
      assertEquals(succeeds, errors.isEmpty(), () -> found.getDiagnostics().toString());
      return List.copyOf(errors);
    }
  }

  private Path write(String name, String text) throws IOException {
    return Cli.file(folder, name + ".java", text);
  }

  private Path compiled() {
    return folder.resolve("compiled");
  }

  /** Runs a main class on a module path, and returns what it prints. */
  private static String run(Stream<Path> modules, String main, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:+UseSerialGC", "-Dstdout.encoding=UTF-8"));
    command.addAll(List.of("--module-path", path(modules), "--module", main));
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String printed = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertEquals(0, process.waitFor(), printed);
    return printed;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"PlanGpt", "CompareSchedules", "PriceYourPlan", "SlowDevice", "SweepClusters"})
  void anExamplePrintsTheSameAsOnTheClassPath(String example) throws Exception {
    String program = Files.readString(ROOT.resolve("examples").resolve(example + ".java"));
    assertEquals(List.of(), compile(Map.of(example, program)));
    Stream<Path> all = Stream.concat(library(), Stream.of(compiled()));
    assertEquals(ExamplesTest.run(example), run(all, "consumer/consumer." + example));
  }

  @Test
  void aProgramThatImportsAnInternalTypeDoesNotCompile() throws IOException {
    var errors =
        compile(
            Map.of(
                "Inside",
                """
                import dev.pipewright.formats.problem.StepOptions;

                class Inside {
                  StepOptions options = StepOptions.of(64);
                }
                """));
    assertEquals(1, errors.size(), errors.toString());
    assertEquals(
        "package dev.pipewright.formats.problem is not visible\n"
            + "  (package dev.pipewright.formats.problem is declared in module"
            + " dev.pipewright.formats, which does not export it to module consumer)",
        errors.getFirst().getMessage(Locale.ENGLISH));
  }

  @Test
  void noOtherPackageIsVisible() throws IOException {
    Map<String, String> packages = new HashMap<>();
    ours()
        .filter(module -> module.name().matches(".*\\.(core|formats)"))
        .flatMap(module -> module.packages().stream())
        .forEach(name -> packages.put("In" + packages.size(), name));
    assertTrue(packages.size() > 35, "too few packages: " + packages);
    Map<String, String> importing = new HashMap<>();
    packages.forEach(
        (type, name) -> importing.put(type, "import " + name + ".*; class " + type + " {}"));
    Set<String> visible = new TreeSet<>(packages.values());
    for (Diagnostic<? extends JavaFileObject> error : compile(importing)) {
      assertEquals("compiler.err.package.not.visible", error.getCode(), error::toString);
      String file = Path.of(error.getSource().toUri()).getFileName().toString();
      visible.remove(packages.get(file.replace(".java", "")));
    }
    assertEquals(documented(), visible);
  }

  // ---- the command line

  @Test
  void theCommandLineAnswersTheSame() throws Exception { // and reads a file
    Path cluster =
        Cli.file(
            folder, "cluster.yaml", Files.readString(ROOT.resolve("bench/emulated-cluster.yaml")));
    String[] command = {
      "predict", "vgg-16", "--cluster", cluster.toString(), "--devices", "1,4", "--json"
    };
    String printed = run(modules(), "dev.pipewright.app/dev.pipewright.app.cli.Main", command);
    assertEquals(Cli.run(command).ends(0).out(), printed);
  }
}
