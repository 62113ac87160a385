package dev.pipewright.app.cli.plan;

import dev.pipewright.api.Planners;
import dev.pipewright.app.cli.input.Mistakes;
import dev.pipewright.app.cli.input.ModelArgument;
import dev.pipewright.app.cli.sweep.SweepAnswer;
import dev.pipewright.app.cli.sweep.SweepFlags;
import dev.pipewright.app.cli.terminal.Failures;
import dev.pipewright.app.cli.terminal.MoreHelp;
import dev.pipewright.app.cli.terminal.SearchDeadline;
import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.text.TrainingLines;
import dev.pipewright.formats.PlanFile;
import dev.pipewright.formats.answer.TrainingFiguresJson;
import dev.pipewright.formats.export.ExportedFile;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.FileNames;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.formats.imported.PlanImports;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.formats.memory.McapTable;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.FlagValues;
import dev.pipewright.planner.Objective;
import dev.pipewright.planner.SearchStoppedException;
import dev.pipewright.planner.catalog.OperatorPlanner;
import dev.pipewright.planner.catalog.PlannerCatalog;
import dev.pipewright.planner.catalog.PlannerEntry;
import dev.pipewright.planner.catalog.SteadyPlanner;
import dev.pipewright.planner.catalog.StepPlanner;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
    name = "plan",
    description = "Finds the best way to split a network over a cluster.",
    footer = {
      "",
      "In the answer:",
      "  estimate       the step by the cost model, which ranks plans",
      "  simulated      the step in the simulator, which decides among the best",
      "  lower bound    no plan is faster by the cost model",
      "  idle           time in which a device runs no forward or backward pass",
      "  longest span   from the first to the last pass of the stage that spans longest",
      "  in flight      micro-batches whose activations a stage holds at once",
      "  ×8             a stage on 8 devices, which divide its micro-batches",
      "",
      "Examples:",
      "  pipewright plan bert-48 --cluster dapple-a --global-batch 64",
      "  pipewright plan profile.txt --profile-batch 32 --cluster mine.yaml --global-batch 1024 --out result",
      "  pipewright plan vgg-19 --cluster dapple-c --global-batch 2048 --planner straight",
      "  pipewright plan bert-48 --cluster dapple-a --global-batch 64 --evaluate other.json --json",
      "  pipewright plan vgg-19 --cluster dapple-c --global-batch 2048 --objective throughput",
      "  pipewright plan vgg16.graph.txt --planner pipedream --levels 4,4 --bandwidths 25e9,1e9",
      "  pipewright plan llama3-8b --cluster h100:4x8 --global-batch 512 --smallest-cluster",
      "  pipewright plan bert-48 --cluster dapple-a --global-batch 64 --objective cost --device-hour 2.5",
      "  pipewright plan bert-48 --cluster dapple-a --global-batch 64 --objective p95 --stragglers 0.05:1.5",
      "  pipewright plan bert-48 --cluster dapple-a --global-batch 64 --front --out front",
      "  pipewright plan mine.py:Net --input 3x224x224 --cluster local --global-batch 32",
      "  pipewright plan --sweep study.yaml --out study"
    })
public final class PlanCommand implements Callable<Integer>, Mistakes.Checked, MoreHelp {
  private CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "MODEL",
      description =
          "A profile or graph file, a name (`pipewright models`), or FILE.py:NAME, a network of"
              + " PyTorch, which is measured here first.")
  private String model = "";

  @Mixin private ModelArgument arguments = new ModelArgument();

  @Option(
      names = "--planner",
      paramLabel = "NAME",
      defaultValue = Planners.DEFAULT,
      completionCandidates = Names.class,
      description = "How to plan; the planners are listed below.")
  private String planner = Planners.DEFAULT;

  @Option(
      names = "--objective",
      paramLabel = "NAME",
      description =
          "time (of a step; the default), memory (least peak: capture, for a table of peaks mcap),"
              + " throughput (the fastest of the planners without flushes that fits memory), cost"
              + " (fewest device-seconds of a step, also on a part of the cluster) or p95 (least"
              + " 95th percentile of steps whose durations vary, with --jitter or --stragglers).")
  private @Nullable String objective;

  @Mixin private SynchronousFlags synchronous = new SynchronousFlags();
  @Mixin private LevelFlags levels = new LevelFlags();
  @Mixin private SizingFlags sizing = new SizingFlags();
  @Mixin private RobustFlags robust = new RobustFlags();
  @Mixin private SweepFlags sweep = new SweepFlags();

  @Mixin private PlanExportFlags export = new PlanExportFlags();
  @Mixin private MeasuredNetwork measured = new MeasuredNetwork();

  @Option(
      names = "--time-limit",
      paramLabel = "S",
      description = "Seconds after which the search ends with the best so far, as Ctrl-C does.")
  private @Nullable String timeLimit;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description =
          "Write plan.json, report.html, timeline.svg and trace.json; of a placement plan.json alone;"
              + " of a front front.json, front.svg, plan-1.json and so on.")
  private @Nullable Path out;

  @Option(names = "--json", description = "Print one JSON object and nothing else.")
  private boolean json;

  /** For the help text and the completion of shells. */
  static final class Names implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return PlannerCatalog.names().iterator();
    }
  }

  PlanCommand() {
    this.spec = CommandSpec.create();
  }

  @Spec
  void spec(CommandSpec own) {
    spec = own;
    PlannerFlags.declare(own);
  }

  private FlagValues ownFlags() {
    return PlannerFlags.of(spec.commandLine().getParseResult());
  }

  @Override
  public void check(Mistakes found) {
    if (isSweep(found)) {
      return;
    }
    if (synchronous.evaluate().isPresent()) {
      found.of("--cluster", () -> arguments.require());
      if (found.mentions("--cluster")) {
        return; // it says how many devices the plan has
      }
      found.of("--evaluate", this::completeByPlan);
    }
    if (model.isEmpty() && !spec.commandLine().getParseResult().hasMatchedPositional(0)) {
      found.of("MODEL", PlanCommand::missing);
    }
    found.of("--input", () -> measured.check(model));
    arguments.check(measured.isMeant(model) ? "" : model, found);
    int before = found.sentences().size();
    found.of("--planner", this::meant);
    found.of("--time-limit", () -> SearchDeadline.limit(timeLimit));
    found.of("--export", () -> export.check(sizing.front()));
    found.of("--against", () -> synchronous.reasons().check());
    found.of("--smallest-cluster", () -> sizing.check(objective));
    found.of("--jitter", () -> robust.check(objective));
    boolean known = before == found.sentences().size();
    if (known
        && (objective == null || sizing.isGiven(objective) || robust.isGiven(objective))
        && isForTime(planner)) {
      found.of("--cluster", () -> arguments.require());
      found.of("--global-batch", () -> synchronous.globalBatch());
    }
  }

  /** Whether it is a sweep, whose file says all else, or was meant to be one. */
  private boolean isSweep(Mistakes found) {
    try {
      if (!sweep.isGiven()) {
        return false;
      }
      sweep.refuseOthers(spec, model);
    } catch (BadInputException e) {
      found.failed(e);
      found.add(String.valueOf(e.getMessage()));
    }
    return true;
  }

  /** Takes from the plan that is scored what the command line does not say. */
  private void completeByPlan() {
    if (!model.isEmpty() && synchronous.saysBatch()) {
      return;
    }
    int devices = arguments.cluster(Optional.empty()).size();
    PlanFile<PipelinePlan> given =
        PlanImports.readStep(synchronous.evaluate().orElseThrow(), OptionalInt.of(devices));
    if (model.isEmpty()) {
      model = given.madeFor().model().orElse("");
      arguments.fallBackTo(given.madeFor().training(), given.madeFor().memory());
    }
    synchronous.fallBackTo(given.plan().globalBatch());
  }

  private static void missing() {
    throw new BadInputException("MODEL is missing; write `pipewright plan MODEL`");
  }

  private static boolean isForTime(String planner) {
    return PlannerCatalog.find(planner)
        .filter(entry -> entry.objective() == Objective.STEP_TIME)
        .isPresent();
  }

  /** The planners of the catalogue by objective. */
  @Override
  public List<String> moreHelp() {
    return PlannerNames.help();
  }

  @Override
  public Integer call() {
    if (sweep.isGiven()) {
      PrintWriter printer = spec.commandLine().getOut();
      return new SweepAnswer(sweep, out, json, printer, spec.commandLine().getErr())
          .call(new PointPlanner());
    }
    if (measured.isMeant(model)) {
      model = measured.profile(model, arguments, synchronous, spec.commandLine().getErr());
    }
    Optional<PlannerEntry> meant = meant();
    synchronous.checkStages(meant.map(PlannerEntry::name).orElse(planner));
    try (OutputFolder to =
        OutputFolder.of(out, fileNames().toArray(String[]::new))) { // before any work
      PlannerAnswer answer;
      try (SearchDeadline patience = new SearchDeadline(SearchDeadline.limit(timeLimit))) {
        answer = answer(meant, patience);
      } catch (SearchStoppedException e) {
        spec.commandLine().getErr().println("pipewright: " + e.getMessage());
        return SearchDeadline.interrupted() ? Failures.INTERRUPTED : Failures.NO;
      }
      return show(answer, to);
    }
  }

  /** Whether it asks for synchronous steps of a model that has times. */
  boolean plansSteps() {
    return meant().filter(entry -> entry.steps().isPresent()).isPresent() && !isTable();
  }

  /** Plans within a sweep, which hears of interrupts. */
  PlannerAnswer point() {
    Optional<PlannerEntry> meant = meant();
    synchronous.checkStages(meant.map(PlannerEntry::name).orElse(planner));
    return answer(meant, SearchDeadline.within(SearchDeadline.limit(timeLimit)));
  }

  private List<String> fileNames() {
    List<String> names = new ArrayList<>(sizing.front() ? FrontAnswer.names() : Answer.FILES);
    names.addAll(export.fileNames());
    return names;
  }

  /**
   * The planner that is meant, empty where several compete; throws where it does not support a
   * flag.
   */
  private Optional<PlannerEntry> meant() {
    Optional<PlannerEntry> of =
        PlannerNames.of(planner, objective, this::isTable).map(synchronous::meant);
    PlannerNames.checkSupported(
        of, of.filter(synchronous::isScheduleOf).isPresent(), spec.commandLine().getParseResult());
    return of;
  }

  private boolean isTable() {
    return McapTable.isTable(FileNames.file("the model", model));
  }

  private PlannerAnswer answer(Optional<PlannerEntry> meant, SearchDeadline patience) {
    if (meant.isEmpty()) {
      return ThroughputAnswer.of(model, arguments, synchronous, levels, patience);
    }
    PlannerEntry entry = meant.get();
    if (sizing.front()) {
      return FrontAnswer.of(entry, model, arguments, synchronous, sizing.smallest(), patience);
    }
    if (sizing.isGiven(objective)) {
      return SizedAnswer.of(
          entry, model, arguments, synchronous, ownFlags(), sizing, objective, patience);
    }
    if (robust.isGiven(objective) && entry.steps().isPresent()) {
      return RobustAnswer.of(
          entry.name(), model, arguments, synchronous, robust, export.searched(), patience);
    }
    return switch (entry.method()) {
      case StepPlanner step ->
          entry.objective() == Objective.PEAK_MEMORY && isTable()
              ? PeaksAnswer.of(
                  entry, FileNames.file("the model", model), arguments, synchronous, patience)
              : StepAnswer.of(
                  entry.name(),
                  model,
                  arguments,
                  synchronous,
                  synchronous.options().withFlags(ownFlags()),
                  export.searched(),
                  patience);
      case SteadyPlanner steady ->
          SteadyAnswer.of(
              entry, steady, model, arguments, synchronous, levels, ownFlags(), patience);
      case OperatorPlanner operators ->
          PlacementAnswer.of(operators, new PlacementAnswer.Options(model, ownFlags()), patience);
    };
  }

  private int show(PlannerAnswer answer, @Nullable OutputFolder to) {
    PrintWriter printer = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    Optional<PlanExporter.Outcome> exported =
        answer.nothing().isPresent() ? Optional.empty() : export.of(answer, planner);
    if (json) {
      String object = answer.json();
      String whole =
          answer.figures().map(found -> TrainingFiguresJson.added(object, found)).orElse(object);
      printer.print(
          exported
              .map(outcome -> JsonText.joined(whole, Map.of("export", outcome.object())))
              .orElse(whole));
    }
    Optional<String> nothing = answer.nothing();
    if (nothing.isPresent()) {
      err.println("pipewright: nothing fits: " + nothing.get());
      return Failures.NO;
    }
    if (!json) {
      answer.print(printer);
      answer
          .figures()
          .ifPresent(found ->
              printer.print(
                  "\n" + TrainingLines.of(found, Terminal.columns(), Terminal.colours())));
    }
    if (to != null) {
      answer.write(to);
      err.println("wrote " + String.join(", ", answer.files()) + " to " + to);
    }
    answer.remarks().forEach(remark -> err.println("pipewright: " + remark));
    boolean said = exported.map(outcome -> show(outcome, to)).orElse(true);
    return answer.fits() && said ? 0 : Failures.NO;
  }

  /** Whether the target could say the plan, or the nearest one was asked for. */
  private boolean show(PlanExporter.Outcome outcome, @Nullable OutputFolder to) {
    PrintWriter err = spec.commandLine().getErr();
    outcome.refusal().ifPresent(sentence -> err.println("pipewright: " + sentence));
    outcome.notes().forEach(note -> err.println("pipewright: " + note));
    if (outcome.exported().isEmpty()) {
      return false;
    }
    if (to != null) {
      outcome.files().forEach(file -> to.write(file.name(), file.text()));
      err.println(
          "wrote "
              + String.join(", ", outcome.files().stream().map(ExportedFile::name).toList())
              + " to "
              + to);
    } else if (!json) {
      spec.commandLine().getOut().print("\n" + outcome.text());
    }
    return true;
  }
}
