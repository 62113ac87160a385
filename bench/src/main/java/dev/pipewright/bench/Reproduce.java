package dev.pipewright.bench;

import dev.pipewright.app.cli.reproduce.PublishedResult;
import dev.pipewright.bench.fuzz.Fuzz;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.bench.runtime.Convergence;
import dev.pipewright.bench.runtime.CyclicMemoryMeasured;
import dev.pipewright.bench.runtime.ExamplesLearn;
import dev.pipewright.bench.runtime.LostWorkers;
import dev.pipewright.bench.runtime.MemoryAccuracy;
import dev.pipewright.bench.runtime.RuntimeAccuracy;
import dev.pipewright.bench.runtime.SecureConnections;
import dev.pipewright.bench.runtime.SlurmOverhead;
import dev.pipewright.bench.runtime.ThreadConvolutions;
import dev.pipewright.bench.runtime.TracedTimes;
import dev.pipewright.bench.runtime.TrainingSpeed;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.stream.Stream;

/**
 * Computes published tables and figures again: {@code Reproduce NAME…|all [--reference DIR] [--out
 * DIR] [--files DIR]}. Prints each as Markdown and writes {@code NAME.md} and {@code NAME.svg}, and
 * with {@code --files} what programs read.
 */
public final class Reproduce {
  private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  private Reproduce() {}

  /** Those of the command {@code reproduce}, and those that need the runtime. */
  static List<Reproduction> all() {
    Stream<Reproduction> installed =
        ServiceLoader.load(PublishedResult.class).stream()
            .map(ServiceLoader.Provider::get)
            .map(Reproduction.class::cast);
    return Stream.concat(
            installed,
            Stream.of(
                new TrainingSpeed(),
                new TracedTimes(),
                new RuntimeAccuracy(),
                new MemoryAccuracy(),
                new Convergence(),
                new CyclicMemoryMeasured(),
                new ThreadConvolutions(),
                new ExamplesLearn(),
                new LostWorkers(),
                new SlurmOverhead(),
                new SecureConnections(),
                new Fuzz()))
        .toList();
  }

  public static void main(String[] arguments) throws IOException {
    List<String> names = new ArrayList<>();
    Reference reference = Reference.usual();
    Path out = Path.of("bench/results");
    Optional<Path> files = Optional.empty();
    for (int i = 0; i < arguments.length; i++) {
      boolean option = arguments[i].startsWith("--");
      if (option && i + 1 == arguments.length) {
        usage(arguments[i] + " needs a folder");
        return;
      }
      switch (arguments[i]) {
        case "--reference" -> reference = new Reference(Path.of(arguments[++i]));
        case "--out" -> out = Path.of(arguments[++i]);
        case "--files" -> files = Optional.of(Path.of(arguments[++i]));
        default -> names.add(arguments[i]);
      }
    }
    List<Reproduction> chosen = new ArrayList<>();
    for (String name : names) {
      if (name.equals("all")) {
        chosen.addAll(all());
        continue;
      }
      Optional<Reproduction> one = all().stream().filter(r -> r.name().equals(name)).findFirst();
      if (one.isEmpty()) {
        usage("unknown: " + name);
        return;
      }
      chosen.add(one.get());
    }
    if (chosen.isEmpty()) {
      usage("nothing to do");
      return;
    }
    Files.createDirectories(out);
    for (Reproduction one : chosen) {
      run(one, reference, out, files);
    }
  }

  private static void run(Reproduction one, Reference reference, Path out, Optional<Path> files)
      throws IOException {
    if (!reference.has(one.needs())) {
      OUT.println(
          "%s: skipped, no %s in %s%n"
              .formatted(one.name(), String.join(", ", one.needs()), reference.folder()));
      return;
    }
    Report report = one.run(reference);
    OUT.println(report.markdown());
    Files.writeString(out.resolve(one.name() + ".md"), report.markdown().strip() + "\n");
    Optional<String> svg = report.svg();
    if (svg.isPresent()) {
      Files.writeString(out.resolve(one.name() + ".svg"), svg.get());
    }
    if (files.isPresent()) {
      Files.createDirectories(files.get());
      for (Map.Entry<String, String> file : report.files().entrySet()) {
        Files.writeString(files.get().resolve(file.getKey()), file.getValue());
      }
    }
  }

  private static void usage(String problem) {
    List<String> names = all().stream().map(Reproduction::name).toList();
    OUT.println(problem + "; give all or any of " + String.join(", ", names));
    OUT.println("options: --reference DIR, --out DIR, --files DIR");
  }
}
