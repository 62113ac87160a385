package dev.pipewright.bench;

import dev.pipewright.bench.dapple.EstimateAccuracy;
import dev.pipewright.bench.dapple.Figure12;
import dev.pipewright.bench.dapple.Figure14;
import dev.pipewright.bench.dapple.PlannerResults;
import dev.pipewright.bench.dapple.Scaling;
import dev.pipewright.bench.dapple.Table4;
import dev.pipewright.bench.dapple.Table5;
import dev.pipewright.bench.dapple.Table6;
import dev.pipewright.bench.dapple.Table7;
import dev.pipewright.bench.dapple.Table8;
import dev.pipewright.bench.fuzz.Fuzz;
import dev.pipewright.bench.oracle.CalibrateTransformers;
import dev.pipewright.bench.oracle.HandMadeLayouts;
import dev.pipewright.bench.oracle.TransformerAccuracy;
import dev.pipewright.bench.paradl.CalibrateAbci;
import dev.pipewright.bench.paradl.Figure3;
import dev.pipewright.bench.paradl.PredictScaling;
import dev.pipewright.bench.paradl.ScriptComparison;
import dev.pipewright.bench.planners.DegreesByRank;
import dev.pipewright.bench.planners.MemoryFirst;
import dev.pipewright.bench.planners.PeriodicMemory;
import dev.pipewright.bench.planners.PlannerScaling;
import dev.pipewright.bench.planners.PlannersSideBySide;
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
import dev.pipewright.bench.simulator.ScheduleScaling;
import dev.pipewright.bench.simulator.SimulatorScaling;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Computes published tables and figures again: {@code Reproduce NAME…|all [--reference DIR] [--out
 * DIR] [--files DIR]}. Prints each as Markdown and writes {@code NAME.md} and {@code NAME.svg}, and
 * with {@code --files} what programs read.
 */
public final class Reproduce {
  private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  private Reproduce() {}

  static List<Reproduction> all() {
    return List.of(
        new PlannerResults(),
        new Table4(),
        new Table5(),
        new Table6(),
        new Table7(),
        new Table8(),
        new Figure12(),
        new Figure14(),
        new EstimateAccuracy(),
        new Scaling(),
        new Figure3(),
        new CalibrateAbci(),
        new ScriptComparison(),
        new PredictScaling(),
        new CalibrateTransformers(),
        new TransformerAccuracy(),
        new HandMadeLayouts(),
        new ScheduleScaling(),
        new SimulatorScaling(),
        new PeriodicMemory(),
        new MemoryFirst(),
        new DegreesByRank(),
        new PlannersSideBySide(),
        new PlannerScaling(),
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
        new Fuzz());
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
    if (one.needsReference() && !reference.present()) {
      OUT.println(one.name() + ": skipped, no reference files in " + reference.folder() + "\n");
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
