package dev.pipewright.app.cli;

import dev.pipewright.app.report.ScheduleRun;
import dev.pipewright.app.report.ScheduleSvg;
import dev.pipewright.app.report.ScheduleText;
import dev.pipewright.formats.BadInputException;
import dev.pipewright.formats.ScheduleCsv;
import dev.pipewright.formats.ScheduleJson;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "schedule",
    description = "Shows who does what in which order, how long it takes and what it holds.",
    footer = {
      "",
      "Examples:",
      "  pipewright schedule 1f1b --stages 4 --micro-batches 8",
      "  pipewright schedule zb-auto --stages 8 --micro-batches 32 --times 1,1.1,0.9,0.1"
          + " --memory-cap 8",
      "  pipewright schedule dualpipev --stages 4 --micro-batches 10 --svg dualpipev.svg"
          + " --csv dualpipev.csv"
    })
final class ScheduleCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(
      paramLabel = "NAME",
      description = "One of ${COMPLETION-CANDIDATES}.",
      completionCandidates = Names.class)
  private String name = "";

  /** For the help and for completion in shells. */
  static final class Names implements Iterable<String> {
    @Override
    public java.util.Iterator<String> iterator() {
      return ScheduleNames.all().iterator();
    }
  }

  @Option(
      names = "--stages",
      required = true,
      paramLabel = "P",
      description = "Ranks of the pipeline, each with a stage of the network.")
  private String stages = "";

  @Option(
      names = "--micro-batches",
      required = true,
      paramLabel = "M",
      description = "Micro-batches of a step, those of both directions together.")
  private String microBatches = "";

  @Option(
      names = "--times",
      paramLabel = "F,B,W,comm",
      defaultValue = "1,1,1,0",
      description =
          "Time of a forward pass, the gradients of input and of weights, each of a stage and"
              + " micro-batch (one number, or one per stage: 1:2:1), and of a transfer between"
              + " ranks. Default: ${DEFAULT-VALUE}.")
  private String times = "";

  @Option(
      names = "--chunks",
      paramLabel = "V",
      description = "Parts into which each stage is cut, where the schedule allows a choice.")
  private @Nullable String chunks;

  @Option(
      names = "--memory-cap",
      paramLabel = "X",
      description = "The most activations a rank may hold, counted in micro-batches of one stage.")
  private @Nullable String memoryCap;

  @Option(
      names = "--csv",
      paramLabel = "FILE",
      description = "Write the order as PyTorch reads it.")
  private @Nullable Path csv;

  @Option(
      names = "--csv-transfers",
      paramLabel = "FILE",
      description = "The same with what is sent and received.")
  private @Nullable Path csvTransfers;

  @Option(names = "--svg", paramLabel = "FILE", description = "Write the picture.")
  private @Nullable Path svg;

  @Option(names = "--json", description = "Print one JSON object and nothing else.")
  private boolean json;

  ScheduleCommand() {
    this.spec = CommandSpec.create();
  }

  @Override
  public Integer call() {
    ScheduleNames.Named named = ScheduleNames.find(name);
    ScheduleRequest request = request(named);
    checkPaths();
    long before = System.nanoTime();
    Schedule schedule = generate(named, request);
    double seconds = (System.nanoTime() - before) / 1e9;
    Run run = StaticSimulator.run(schedule, request.opTimes(schedule.placement()));
    Map<Path, String> files = files(run, request); // before anything is printed
    if (json) {
      var context =
          new ScheduleJson.Context(
              name,
              request.microBatches(),
              request.chunks(),
              request.memoryCap() < Double.POSITIVE_INFINITY
                  ? OptionalDouble.of(request.memoryCap())
                  : OptionalDouble.empty(),
              seconds);
      spec.commandLine().getOut().print(ScheduleJson.text(run, context));
    } else {
      ScheduleRun shown = shown(run, request);
      spec.commandLine()
          .getOut()
          .print(ScheduleText.of(shown, Terminal.columns(), Terminal.colours()));
    }
    files.forEach(this::write);
    return fits(run, request) ? 0 : Failures.NO;
  }

  private ScheduleRequest request(ScheduleNames.Named named) {
    int ranks = Values.count("--stages", stages);
    int batches = Values.count("--micro-batches", microBatches);
    int parts =
        named.chunks(
            name,
            chunks == null
                ? OptionalInt.empty()
                : OptionalInt.of(Values.count("--chunks", chunks)));
    if (ranks > Limits.DEVICES || (double) ranks * parts * batches > Limits.PASSES) {
      throw new BadInputException(
          ("%d stages × %d chunks × %d micro-batches are more than can be shown;"
                  + " take at most %d stages and %d in all")
              .formatted(ranks, parts, batches, Limits.DEVICES, Limits.PASSES));
    }
    return new ScheduleRequest(
        ranks, batches, parts, ScheduleRequest.Times.of(times, ranks), cap());
  }

  private double cap() {
    if (memoryCap == null) {
      return Double.POSITIVE_INFINITY;
    }
    try {
      double cap = Double.parseDouble(memoryCap);
      if (cap >= 1) {
        return cap;
      }
    } catch (NumberFormatException e) {
      // said below, as for one below 1
    }
    throw new BadInputException(
        "--memory-cap: '%s' holds not even one micro-batch; give a number >= 1"
            .formatted(memoryCap));
  }

  private static Schedule generate(ScheduleNames.Named named, ScheduleRequest request) {
    try {
      return named.generator().apply(request);
    } catch (IllegalArgumentException e) {
      throw new BadInputException(String.valueOf(e.getMessage()));
    }
  }

  private boolean fits(Run run, ScheduleRequest request) {
    int[] peaks = run.peakActivations();
    for (int rank = 0; rank < peaks.length; rank++) {
      double peak = (double) peaks[rank] / request.chunks();
      if (peak > request.memoryCap() + 1e-9) {
        spec.commandLine()
            .getErr()
            .println(
                "pipewright: does not fit: rank %d holds %s activations, the cap is %s; %s"
                    .formatted(
                        rank,
                        ScheduleText.number(peak),
                        ScheduleText.number(request.memoryCap()),
                        "try zb-auto, or a larger --memory-cap"));
        return false;
      }
    }
    return true;
  }

  private ScheduleRun shown(Run run, ScheduleRequest request) {
    Schedule schedule = run.schedule();
    double[][] starts = new double[schedule.ranks()][];
    double[][] ends = new double[schedule.ranks()][];
    for (int rank = 0; rank < starts.length; rank++) {
      starts[rank] = new double[schedule.packed(rank).length];
      ends[rank] = new double[starts[rank].length];
      for (int i = 0; i < starts[rank].length; i++) {
        starts[rank][i] = run.start(rank, i);
        ends[rank][i] = run.end(rank, i);
      }
    }
    return new ScheduleRun(
        name,
        request.microBatches(),
        request.times().toString(),
        request.chunks(),
        schedule,
        starts,
        ends,
        run.makespan(),
        run.idleShare(),
        run.spanIdleShare(),
        run.peakActivations(),
        request.memoryCap());
  }

  private void checkPaths() {
    check("--csv", csv, ScheduleCsv::isSchedule);
    check("--csv-transfers", csvTransfers, ScheduleCsv::isSchedule);
    check("--svg", svg, ScheduleCommand::isPicture);
    boolean oneCsv = csv != null && (csv.equals(svg) || csv.equals(csvTransfers));
    if (oneCsv || (svg != null && svg.equals(csvTransfers))) {
      throw new BadInputException("--csv, --csv-transfers, --svg: name one file; name several");
    }
  }

  /** Nothing is written over a file that is not of the same kind. */
  private static void check(String option, @Nullable Path file, Predicate<Path> ours) {
    if (file == null) {
      return;
    }
    if (Files.isDirectory(file)) {
      throw new BadInputException(option + ": " + file + " is a folder; name a file in it");
    }
    if (Files.exists(file) && !ours.test(file)) {
      throw new BadInputException(
          option + ": " + file + " exists and is no such file of Pipewright's; name another");
    }
    Path folder = file.toAbsolutePath().getParent();
    if (folder == null || !Files.isDirectory(folder)) {
      throw new BadInputException(
          option + ": " + file + " is in no folder that exists; make the folder first");
    }
  }

  private static boolean isPicture(Path file) {
    try (var lines = Files.lines(file)) {
      return lines.limit(2).anyMatch(line -> line.startsWith("<title>schedule "));
    } catch (IOException | UncheckedIOException e) {
      return false; // not even text
    }
  }

  private Map<Path, String> files(Run run, ScheduleRequest request) {
    Map<Path, String> files = new LinkedHashMap<>();
    if (csv != null) {
      files.put(csv, ScheduleCsv.text(run.schedule()));
    }
    if (csvTransfers != null) {
      files.put(csvTransfers, ScheduleCsv.textWithTransfers(run.schedule()));
    }
    if (svg != null) {
      if (run.schedule().size() > ScheduleSvg.MOST_OPS) {
        throw new BadInputException(
            "--svg: %d passes are more than a picture can show; take at most %d"
                .formatted(run.schedule().size(), ScheduleSvg.MOST_OPS));
      }
      files.put(svg, ScheduleSvg.of(shown(run, request)));
    }
    return files;
  }

  private void write(Path file, String text) {
    try {
      Files.writeString(file, text);
    } catch (IOException e) {
      throw new UncheckedIOException(file + ": cannot be written", e);
    }
    spec.commandLine().getErr().println("wrote " + file);
  }
}
