package dev.pipewright.app.cli;

import dev.pipewright.app.report.ScheduleRun;
import dev.pipewright.app.report.ScheduleText;
import dev.pipewright.formats.BadInputException;
import dev.pipewright.schedule.MemoryCap;
import dev.pipewright.schedule.Schedule;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
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
      "  pipewright schedule zb-auto --stages 4 --micro-batches 16 --memory-cap 8:6:4:4",
      "  pipewright schedule pipedream --stages 3 --micro-batches 12 --replicas 2:1:1",
      "  pipewright schedule dualpipev --stages 4 --micro-batches 10 --svg dualpipev.svg"
          + " --csv dualpipev.csv",
      "  pipewright schedule 1f1b --beside zb-h1,zb-v --stages 4 --micro-batches 8"
          + " --html compared.html"
    })
final class ScheduleCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(
      paramLabel = "NAME",
      description =
          "One of ${COMPLETION-CANDIDATES}; of cyclic-v1 and cyclic-v2 also the forms -single,"
              + " -pyramid, -pipeline and -zero.",
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
              + " ranks (one number, or one per cut). Default: ${DEFAULT-VALUE}.")
  private String times = "";

  @Option(
      names = "--chunks",
      paramLabel = "V",
      description = "Parts into which each stage is cut, where the schedule allows a choice.")
  private @Nullable String chunks;

  @Option(
      names = "--memory-cap",
      paramLabel = "X",
      description =
          "The most activations a rank may hold, counted in micro-batches of one stage (one number,"
              + " or one per rank: 8:7:6).")
  private @Nullable String memoryCap;

  @Option(
      names = "--replicas",
      paramLabel = "R",
      description =
          "Ranks that take a stage's micro-batches in turn, in pipedream (one number, or one per"
              + " stage: 2:1:1). Default: 1.")
  private @Nullable String replicas;

  @Option(
      names = "--time-limit",
      paramLabel = "S",
      description =
          "Seconds that optimal may search; it says how far from the optimum it may be."
              + " Default: 10.")
  private @Nullable String timeLimit;

  @Option(
      names = "--step-times",
      paramLabel = "U,A,G,H",
      defaultValue = "0,0,0,0",
      description =
          "Time of a stage's update, of adding up its gradients, of gathering its parameters and of"
              + " taking either over from another rank, where the schedule has them. Default:"
              + " ${DEFAULT-VALUE}.")
  private String stepTimes = "";

  @Option(
      names = "--recompute",
      paramLabel = "none|all|STAGES",
      defaultValue = "none",
      description =
          "Run forward passes again before the backward ones: of no stage, of all, or of some like"
              + " 0,2-3. Activations count as without. Default: ${DEFAULT-VALUE}.")
  private String recompute = "";

  @Option(
      names = "--overlap",
      description = "Ops that run together take as long as the longest, not as their sum.")
  private boolean overlap;

  @Mixin private SimulationOptions simulation = new SimulationOptions();

  @Option(
      names = "--beside",
      paramLabel = "NAME[,NAME…]",
      split = ",",
      description = "Compare with others for the same stages, micro-batches and times.")
  private List<String> beside = List.of();

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

  @Option(
      names = "--html",
      paramLabel = "FILE",
      description = "Write the picture and the figures as a page for the browser.")
  private @Nullable Path html;

  @Option(
      names = "--trace",
      paramLabel = "FILE",
      description = "Write a trace that Perfetto and Chrome show.")
  private @Nullable Path trace;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description =
          "Write schedule.json, schedule.svg, report.html, trace.json and, where PyTorch can read"
              + " it, schedule.csv.")
  private @Nullable Path out;

  @Option(names = "--json", description = "Print one JSON object and nothing else.")
  private boolean json;

  ScheduleCommand() {
    this.spec = CommandSpec.create();
  }

  @Override
  public Integer call() {
    List<String> names = new ArrayList<>(List.of(name));
    names.addAll(beside);
    names.forEach(ScheduleNames::find);
    checkFlags(names);
    ScheduleNames.Named named = ScheduleNames.find(name);
    int parts = named.fixed() && !beside.isEmpty() ? named.chunks() : named.chunks(name, chunks());
    try (ScheduleFiles files = new ScheduleFiles(csv, csvTransfers, svg, html, trace, out)) {
      return show(named, parts, files);
    }
  }

  private int show(ScheduleNames.Named named, int parts, ScheduleFiles files) {
    List<MadeSchedule> all = new ArrayList<>();
    all.add(made(name, named, request(name, parts)));
    for (String other : beside) {
      all.add(beside(other));
    }
    UnheededFlags.checkStepTimes(stepTimes, all);
    List<ScheduleRun> shown = all.stream().map(MadeSchedule::shown).toList();
    String text = out != null ? MadeSchedule.json(all) : "";
    ScheduleFiles.Made written = files.make(shown, text); // before anything is printed
    PrintWriter printer = spec.commandLine().getOut();
    if (json) {
      MadeSchedule.json(all, printer);
    } else {
      printer.print(ScheduleText.of(shown, Terminal.columns(), Terminal.colours()));
      all.forEach(made -> made.bound().ifPresent(printer::println));
      all.forEach(made -> made.jitterWords().ifPresent(printer::println));
    }
    files.write(written).forEach(spec.commandLine().getErr()::println);
    return fits(all.get(0)) ? 0 : Failures.NO;
  }

  /** Before anything is searched for. */
  private void checkFlags(List<String> names) {
    UnheededFlags.checkOnly(ScheduleNames.SEARCHED, "--time-limit", timeLimit, names);
    UnheededFlags.checkOnly(ScheduleNames.REPLICATED, "--replicas", replicas, names);
    UnheededFlags.checkChunks(chunks(), names);
    simulation.checkHeeded();
  }

  private OptionalInt chunks() {
    return chunks == null ? OptionalInt.empty() : OptionalInt.of(Values.count("--chunks", chunks));
  }

  private ScheduleRequest request(String of, int parts) {
    int ranks = Values.count("--stages", stages);
    int batches = Values.count("--micro-batches", microBatches);
    if (ranks > Limits.DEVICES || (double) ranks * parts * batches > Limits.PASSES) {
      throw new BadInputException(
          ("%d stages × %d chunks × %d micro-batches are more than can be shown;"
                  + " take at most %d stages and %d in all")
              .formatted(ranks, parts, batches, Limits.DEVICES, Limits.PASSES));
    }
    return new ScheduleRequest(
        ranks,
        batches,
        parts,
        ScheduleRequest.Times.of(times, ranks),
        Patience.limit(timeLimit).orElse(ScheduleRequest.USUAL_LIMIT),
        memoryCap == null ? MemoryCap.NONE : MemoryCaps.of(memoryCap),
        replicas == null || !of.equals(ScheduleNames.REPLICATED)
            ? Replicas.none(ranks)
            : Replicas.of(replicas, ranks, batches));
  }

  /** One to compare with, with the same number of chunks where it allows a choice. */
  private MadeSchedule beside(String other) {
    ScheduleNames.Named named = ScheduleNames.find(other);
    try {
      int parts = named.fixed() ? named.chunks() : named.chunks(other, chunks());
      return made(other, named, request(other, parts));
    } catch (BadInputException e) {
      throw new BadInputException("--beside: " + other + ": " + e.getMessage());
    }
  }

  private MadeSchedule made(String name, ScheduleNames.Named named, ScheduleRequest request) {
    long before = System.nanoTime();
    ScheduleNames.Made made = generate(named, request);
    checkAlone(name, made);
    request.caps(made.schedule().ranks()); // throws where they are for another number
    Schedule schedule =
        ScheduleRequest.Recompute.of(recompute, request.stages()).in(made.schedule());
    double seconds = (System.nanoTime() - before) / 1e9;
    StepSeconds step = StepSeconds.of(stepTimes);
    try {
      return MadeSchedule.of(name, request, step, overlap, simulation, made, schedule, seconds);
    } catch (IllegalArgumentException e) {
      throw new BadInputException(
          "%s cannot run so: %s; take transfers that block nobody".formatted(name, e.getMessage()));
    }
  }

  /** An optimum is one for what the search knew. */
  private void checkAlone(String name, ScheduleNames.Made made) {
    String other = recompute.equals("none") ? simulation.words() : ", recomputation";
    if (made.lowerBound().isPresent() && !other.isEmpty()) {
      throw new BadInputException(
          "%s is searched for --times and --memory-cap alone; leave out%s"
              .formatted(name, other.substring(1)));
    }
  }

  private static ScheduleNames.Made generate(ScheduleNames.Named named, ScheduleRequest request) {
    try {
      return named.generator().apply(request);
    } catch (IllegalArgumentException e) {
      throw new BadInputException(String.valueOf(e.getMessage()));
    }
  }

  private boolean fits(MadeSchedule made) {
    int[] peaks = made.run().peakActivations();
    MemoryCap cap = made.request().memoryCap();
    for (int rank = 0; rank < peaks.length; rank++) {
      double peak = (double) peaks[rank] / made.request().chunks();
      if (cap.isExceeded(rank, peak)) {
        spec.commandLine()
            .getErr()
            .println(
                "pipewright: does not fit: rank %d holds %s activations, %s cap is %s; %s"
                    .formatted(
                        rank,
                        ScheduleText.number(peak),
                        cap.isEqual() ? "the" : "its",
                        ScheduleText.number(cap.on(rank)),
                        "try zb-auto, or a larger --memory-cap"));
        return false;
      }
    }
    return true;
  }
}
