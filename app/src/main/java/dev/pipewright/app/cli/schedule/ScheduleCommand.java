package dev.pipewright.app.cli.schedule;

import dev.pipewright.app.cli.input.MemoryCaps;
import dev.pipewright.app.cli.input.Mistakes;
import dev.pipewright.app.cli.input.OptionValues;
import dev.pipewright.app.cli.input.RecomputeFlag;
import dev.pipewright.app.cli.input.SimulationOptions;
import dev.pipewright.app.cli.terminal.SearchDeadline;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.schedule.MemoryCap;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
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
    description =
        "Shows a published schedule, or your own from a file: which rank runs what in which"
            + " order, how long it takes and how many activations it holds.",
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
          + " --html compared.html",
      "  pipewright schedule mine.csv --times 1,1,1,0.1 --beside zb-h1 --svg mine.svg"
    })
public final class ScheduleCommand implements Callable<Integer>, Mistakes.Checked {
  @Spec private CommandSpec spec;

  @Parameters(
      paramLabel = "NAME",
      description =
          "One of ${COMPLETION-CANDIDATES}; of cyclic-v1 and cyclic-v2 also the forms -single,"
              + " -pyramid, -pipeline and -zero. Or a file: PyTorch's CSV, whose sends and receives"
              + " are checked while --times gives the transfers' time, or what `schedule --json`"
              + " wrote; - is standard input.",
      completionCandidates = Names.class)
  private String name = "";

  /** For the help and for completion in shells. */
  static final class Names implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return ScheduleNames.all().iterator();
    }
  }

  @Option(
      names = "--stages",
      paramLabel = "P",
      description =
          "Ranks of the pipeline, each with one stage of the network; required, except for a"
              + " file.")
  private @Nullable String stages;

  @Option(
      names = "--micro-batches",
      paramLabel = "M",
      description =
          "Micro-batches of a step, in both directions together; required, except for a file.")
  private @Nullable String microBatches;

  @Option(
      names = "--times",
      paramLabel = "F,B,W,comm",
      description =
          "Time of a forward pass, the gradients of input and of weights, each of a stage and"
              + " micro-batch (one number, or one per stage: 1:2:1), and of a transfer between"
              + " ranks (one number, or one per cut). Stages of a file count as it numbers them."
              + " Default: 1,1,1,0; of a JSON file the times that it recorded.")
  private @Nullable String times;

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
          "Seconds that optimal may search; the answer states how far from the optimum it may"
              + " be. Default: 10.")
  private @Nullable String timeLimit;

  @Option(
      names = "--step-times",
      paramLabel = "U,A,G,H",
      defaultValue = "0,0,0,0",
      description =
          "Times of a stage's update, of the all-reduce of its gradients, of the all-gather of"
              + " its parameters, and of receiving either from another rank, where the schedule has"
              + " them. Default: ${DEFAULT-VALUE}.")
  private String stepTimes = "";

  @Option(
      names = "--recompute",
      paramLabel = "none|all|except-last|STAGES",
      defaultValue = RecomputeFlag.NONE,
      description =
          "Recompute forward passes within the backward call, which takes F longer, as Megatron-LM"
              + " does: of no stage, of all, of all but for the last micro-batch (torchgpipe's"
              + " except_last), or of some stages like 0,2-3. Activations count as without. Default:"
              + " ${DEFAULT-VALUE}.")
  private String recompute = "";

  @Option(
      names = "--recompute-ahead",
      description =
          "Recompute in an op of its own before the backward pass, which need not wait for the"
              + " gradient, as torchgpipe does.")
  private boolean ahead;

  @Option(
      names = "--overlap",
      description =
          "Ops that run together take as long as the longest, not as their sum: the most that"
              + " overlap can save, since they do not slow each other down. plan and simulate"
              + " of a plan take the sum.")
  private boolean overlap;

  @Mixin private SimulationOptions simulation = new SimulationOptions();

  @Option(
      names = "--beside",
      paramLabel = "NAME[,NAME…]",
      split = ",",
      hideParamSyntax = true,
      description =
          "Compare with others, or with files, for the same stages, micro-batches and times.")
  private List<String> beside = List.of();

  @Option(
      names = "--csv",
      paramLabel = "FILE",
      description = "Write the order as PyTorch reads it.")
  private @Nullable Path csv;

  @Option(
      names = "--csv-transfers",
      paramLabel = "FILE",
      description = "The same with sends and receives.")
  private @Nullable Path csvTransfers;

  @Option(names = "--svg", paramLabel = "FILE", description = "Write the figure.")
  private @Nullable Path svg;

  @Option(
      names = "--html",
      paramLabel = "FILE",
      description = "Write the figure and the numbers as a page for the browser.")
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

  /** Where no file says how much work there is, the user does. */
  @Override
  public void check(Mistakes found) {
    boolean mistyped =
        found.sentences().stream().anyMatch(sentence -> sentence.startsWith("unknown option"));
    if (name.isEmpty() || GivenSchedule.isFile(name) || mistyped) {
      return;
    }
    found.of("unknown schedule", () -> ScheduleNames.find(name));
    if (!ScheduleNames.isKnown(name)) {
      return;
    }
    List<String> missing = new ArrayList<>();
    if (stages == null && !found.mentions("--stages")) {
      missing.add("--stages");
    }
    if (microBatches == null && !found.mentions("--micro-batches")) {
      missing.add("--micro-batches");
    }
    if (!missing.isEmpty()) {
      found.add(
          "%s %s missing; write `pipewright schedule %s --stages P --micro-batches M`"
              .formatted(String.join(" and ", missing), missing.size() == 1 ? "is" : "are", name));
    }
  }

  @Override
  public Integer call() {
    List<String> names = new ArrayList<>(List.of(name));
    names.addAll(beside);
    List<String> named = names.stream().filter(each -> !GivenSchedule.isFile(each)).toList();
    named.forEach(ScheduleNames::find);
    checkFlags(named);
    ScheduleRuns runs = new ScheduleRuns(stepTimes, overlap, recompute, ahead, simulation);
    ScheduleComparison comparison =
        new ScheduleComparison(
            runs,
            name,
            beside,
            new ScheduleComparison.Asked(
                stages,
                microBatches,
                times,
                chunks(),
                SearchDeadline.limit(timeLimit).orElse(ScheduleRequest.USUAL_LIMIT),
                memoryCap == null ? MemoryCap.NONE : MemoryCaps.of(memoryCap),
                replicas));
    try (ScheduleFiles files = new ScheduleFiles(csv, csvTransfers, svg, html, trace, out)) {
      List<MadeSchedule> all = comparison.all();
      UnsupportedFlags.checkStepTimes(stepTimes, all);
      return ScheduleOutput.show(all, files, json, spec.commandLine());
    }
  }

  /** Before anything is searched for. */
  private void checkFlags(List<String> names) {
    UnsupportedFlags.checkOnly(ScheduleNames.SEARCHED, "--time-limit", timeLimit, names);
    UnsupportedFlags.checkOnly(ScheduleNames.REPLICATED, "--replicas", replicas, names);
    if (chunks != null && names.isEmpty()) {
      throw new BadInputException("--chunks: " + name + " has its own; leave --chunks out");
    }
    if (ahead && recompute.equals(RecomputeFlag.NONE)) {
      throw new BadInputException(
          "--recompute-ahead: nothing is recomputed; leave it out, or add --recompute all");
    }
    UnsupportedFlags.checkChunks(chunks(), names);
    simulation.checkSupported();
  }

  private OptionalInt chunks() {
    return chunks == null
        ? OptionalInt.empty()
        : OptionalInt.of(OptionValues.count("--chunks", chunks));
  }
}
