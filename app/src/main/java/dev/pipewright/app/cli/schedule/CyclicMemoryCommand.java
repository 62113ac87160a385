package dev.pipewright.app.cli.schedule;

import dev.pipewright.app.cli.input.OptionValues;
import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.compare.CyclicMemoryCurves;
import dev.pipewright.app.report.compare.CyclicMemoryCurves.Workers;
import dev.pipewright.app.report.compare.CyclicMemorySvg;
import dev.pipewright.app.report.compare.CyclicMemoryText;
import dev.pipewright.formats.file.Amounts;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.OutputFile;
import dev.pipewright.formats.memory.MemoryCurve;
import dev.pipewright.formats.memory.MemoryCurveCsv;
import dev.pipewright.formats.memory.MemoryCurveJson;
import dev.pipewright.formats.problem.SizeLimits;
import dev.pipewright.sim.CyclicMemory;
import dev.pipewright.units.Units;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "cyclic-memory",
    description =
        "Computes how much less memory data-parallel workers hold when they run one after"
            + " another.",
    footer = {
      "",
      "CURVE.csv is what one worker recorded over one training step: a heading with the columns time"
          + " (in seconds) and bytes, a row for each change, the last where the step ends.",
      "",
      "Examples:",
      "  pipewright cyclic-memory resnet-50.csv",
      "  pipewright cyclic-memory vit-b16.csv --workers 2,4,8,16,32 --baseline 1.4GB"
          + " --svg vit-b16.svg --csv vit-b16-cyclic.csv"
    })
public final class CyclicMemoryCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "CURVE.csv", description = "One worker's memory over time.")
  private Path file = Path.of("");

  @Option(
      names = "--workers",
      paramLabel = "LIST",
      defaultValue = "4,8,32",
      description = "Numbers of workers. Default: ${DEFAULT-VALUE}.")
  private String workers = "";

  @Option(
      names = "--baseline",
      paramLabel = "BYTES",
      description =
          "What a worker holds all the time, parameters above all, like 1.4e9 or 2GiB. It is"
              + " subtracted, as it stays whatever the order; the smallest sample otherwise.")
  private @Nullable String baseline;

  @Option(
      names = "--csv",
      paramLabel = "FILE",
      description =
          "Write all curves, per worker; where they have more than 20,000 steps, the most in each"
              + " of so many intervals.")
  private @Nullable Path csv;

  @Option(names = "--svg", paramLabel = "FILE", description = "Write the picture.")
  private @Nullable Path svg;

  @Option(names = "--json", description = "Print one JSON object and nothing else.")
  private boolean json;

  CyclicMemoryCommand() {
    this.spec = CommandSpec.create();
  }

  @Override
  public Integer call() {
    List<Integer> counts = counts();
    checkPaths();
    MemoryCurve recorded = MemoryCurveCsv.read(file);
    double fixed = baseline(recorded);
    CyclicMemory worker = recorded.above(fixed);
    if (worker.most() == 0) {
      throw new BadInputException(
          "%s:%d: never holds more than the %s that it holds all the time; record a whole training step%s"
              .formatted(
                  file,
                  recorded.leastLine(),
                  Units.binary(fixed, "B"),
                  fixed > 0 ? ", or give a smaller --baseline" : ""));
    }
    if (json) {
      spec.commandLine()
          .getOut()
          .print(MemoryCurveJson.text(file.toString(), worker, fixed, counts));
    } else {
      CyclicMemoryCurves shown = curves(recorded, worker, fixed, counts);
      spec.commandLine()
          .getOut()
          .print(CyclicMemoryText.of(shown, Terminal.columns(), Terminal.colours()));
    }
    if (csv != null) {
      write(csv, MemoryCurveCsv.text(worker, counts));
    }
    if (svg != null) {
      write(svg, CyclicMemorySvg.of(curves(recorded, worker, fixed, counts)));
    }
    return 0;
  }

  /** The numbers of workers, fewest first. */
  private List<Integer> counts() {
    TreeSet<Integer> counts = new TreeSet<>();
    for (String word : workers.split(",", -1)) {
      int count = OptionValues.count("--workers", word.strip());
      if (count > SizeLimits.DEVICES) {
        throw new BadInputException(
            "--workers: %d are more than can be shown; give at most %d"
                .formatted(count, SizeLimits.DEVICES));
      }
      counts.add(count);
    }
    if (svg != null && counts.size() > CyclicMemoryCurves.MOST_SHOWN) {
      throw new BadInputException(
          "--workers: %d numbers are more than a picture can tell apart; give at most %d, or no --svg"
              .formatted(counts.size(), CyclicMemoryCurves.MOST_SHOWN));
    }
    return List.copyOf(counts);
  }

  private double baseline(MemoryCurve recorded) {
    if (baseline == null) {
      return recorded.least();
    }
    double bytes = bytes(baseline);
    if (bytes > recorded.least()) {
      throw new BadInputException(
          "--baseline: %s is above the smallest sample, %s in %s:%d; give at most that, or leave it out"
              .formatted(baseline, number(recorded.least()), file, recorded.leastLine()));
    }
    return bytes;
  }

  private static double bytes(String text) {
    if (text.strip().equals("0")) {
      return 0;
    }
    try {
      return Amounts.bytes(text).value();
    } catch (BadInputException e) { // it names another option
      throw new BadInputException(
          "--baseline: '" + text + "' is no amount of memory; write bytes or like 2GiB");
    }
  }

  /** Without an exponent, and as it is where it is whole. */
  private static String number(double bytes) {
    return bytes == Math.rint(bytes) ? Long.toString((long) bytes) : Double.toString(bytes);
  }

  private CyclicMemoryCurves curves(
      MemoryCurve recorded, CyclicMemory worker, double fixed, List<Integer> counts) {
    return new CyclicMemoryCurves(
        file.toString(),
        recorded.seconds().length,
        worker.period(),
        fixed,
        baseline == null,
        worker.most(),
        intervals(worker, worker.period(), 1),
        counts.stream()
            .map(count -> {
              CyclicMemory together = worker.together(count);
              double[] bytes = intervals(together, worker.period(), count);
              return new Workers(count, together.most() / count, bytes);
            })
            .toList());
  }

  private static double[] intervals(CyclicMemory curve, double period, int workers) {
    double[] bytes = new double[CyclicMemoryCurves.INTERVALS];
    double width = period / bytes.length;
    Arrays.setAll(bytes, i -> curve.most(i * width, (i + 1) * width) / workers);
    return bytes;
  }

  private void checkPaths() {
    if (csv != null) {
      OutputFile.check("--csv", csv, MemoryCurveCsv::isOurs);
    }
    if (svg != null) {
      OutputFile.check("--svg", svg, CyclicMemoryCommand::isPicture);
    }
    if (csv != null && csv.equals(svg)) {
      throw new BadInputException("--csv, --svg: name one file; name two");
    }
    if (svg != null) {
      OutputFile.checkEnding("--svg", svg, ".svg");
    }
  }

  private static boolean isPicture(Path file) {
    try (var lines = Files.lines(file)) {
      return lines.limit(2).anyMatch(line -> line.startsWith("<title>" + CyclicMemorySvg.TITLE));
    } catch (IOException | UncheckedIOException e) {
      return false; // not even text
    }
  }

  private void write(Path target, String text) {
    OutputFile.write(target, text);
    spec.commandLine().getErr().println("wrote " + target);
  }
}
