package dev.pipewright.app.cli.train;

import dev.pipewright.app.cli.input.AtLeast;
import dev.pipewright.app.cli.terminal.Failures;
import dev.pipewright.app.cli.terminal.SearchDeadline;
import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.compare.ComparisonHtml;
import dev.pipewright.app.report.compare.ComparisonText;
import dev.pipewright.app.report.text.TrainingLines;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.app.report.timeline.PerfettoTrace;
import dev.pipewright.app.report.timeline.Runs;
import dev.pipewright.app.report.timeline.TimelineSvg;
import dev.pipewright.compare.Comparison;
import dev.pipewright.compare.Comparison.Item;
import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.execution.TrainingFailureException;
import dev.pipewright.execution.TrainingOutcome;
import dev.pipewright.execution.TrainingRequest;
import dev.pipewright.execution.TrainingRequest.Workers;
import dev.pipewright.formats.answer.ComparisonJson;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.model.Optimizer;
import dev.pipewright.predict.run.RunPrediction;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "compare",
    description =
        "Runs a plan for some steps and compares prediction and simulation with the"
            + " measurement: the step, its stages, kinds of ops, exchanges and memory.",
    footer = {
      "",
      "In the answer:",
      "  step                 the measured step, see --steps; off by: relative to the measured one",
      "  first op to last     the same without what a step does before and after its ops",
      "  ops as measured      the simulated step with the measured ops and free messages",
      "  idle share           time in which a worker computes nothing",
      "",
      "Examples:",
      "  pipewright compare PLAN.json --out result",
      "  pipewright compare mlp-8x1024 --stages 2 --global-batch 64 --profile FILE --cluster FILE",
      "  pipewright compare bert-48 --stages 16 --schedule zb-h1 --global-batch 64"
          + " --cluster dapple-a --emulate --tolerance 0.03"
    })
public final class CompareCommand implements Callable<Integer> {
  /** Of a second run that only shows memory. */
  private static final int MEMORY_STEPS = 8;

  private static final String TRACE = "trace.json";

  private static final String[] FILES = {"compare.json", "report.html", "timeline.svg", TRACE};

  @Spec private CommandSpec spec;

  @Mixin private TrainArgument what = new TrainArgument();

  @Mixin private PredictionArgument expected = new PredictionArgument();

  @Mixin private RunOptions run = new RunOptions();

  @Option(
      names = "--steps",
      paramLabel = "N",
      defaultValue = "11",
      description =
          "Global batches. The measured step is the lower quartile of the later half of them,"
              + " since other load on the machine only lengthens steps. Default: ${DEFAULT-VALUE}.")
  private int steps;

  @Option(
      names = "--tolerance",
      paramLabel = "SHARE",
      description =
          "Exit with status 1 when the predicted or simulated step is off by more than this"
              + " share of the measured one, like 0.1. Default: no limit.")
  private @Nullable Double tolerance;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description =
          "Write compare.json, report.html, timeline.svg and trace.json, the measured step for"
              + " Perfetto.")
  private @Nullable Path out;

  @Option(names = "--json", description = "Print one JSON object and nothing else.")
  private boolean json;

  CompareCommand() {
    this.spec = CommandSpec.create();
  }

  @Override
  public Integer call() {
    check();
    TrainArgument.Chosen chosen = what.chosen();
    RunPrediction runPrediction = expected.of(chosen, optimizer(chosen));
    try (OutputFolder to = OutputFolder.of(out, FILES)) { // before anything runs
      return compare(chosen, runPrediction, to);
    }
  }

  private int compare(
      TrainArgument.Chosen chosen, RunPrediction runPrediction, @Nullable OutputFolder to) {
    TrainingRequest request = request(chosen, runPrediction);
    PrintWriter err = spec.commandLine().getErr();
    boolean memory = !expected.emulate && run.workers == Workers.PROCESSES;
    TrainingOutcome outcome;
    try {
      outcome = SearchDeadline.untilSaid(() -> measured(request, memory));
    } catch (TrainingFailureException e) {
      err.println("pipewright: " + e.getMessage());
      return Failures.BROKEN;
    }
    Comparison comparison = Comparison.of(runPrediction, request.assignment(), outcome, memory);
    TrainingFigures figures = runPrediction.figures(comparison.step().measured());
    String object = ComparisonJson.text(request, comparison, figures);
    spec.commandLine().getOut().print(json ? object : text(request, comparison, figures));
    if (to != null) {
      write(to, object, request, comparison, figures);
      err.println("wrote " + String.join(", ", FILES) + " to " + to);
    }
    return within(comparison.step()) ? 0 : Failures.NO;
  }

  private static TrainingOutcome measured(TrainingRequest request, boolean memory) {
    TrainingOutcome outcome = TrainCommand.service("compare").train(request, step -> {});
    return memory
        ? outcome.with(
            TrainCommand.service("compare")
                .train(request.frugal(MEMORY_STEPS), step -> {})
                .workers())
        : outcome;
  }

  private String text(TrainingRequest request, Comparison comparison, TrainingFigures figures) {
    int columns = Terminal.columns();
    boolean colours = Terminal.colours();
    return ComparisonText.of(title(request), comparison, columns, colours)
        + "\n"
        + TrainingLines.of(figures, columns, colours);
  }

  private void check() {
    if (tolerance != null && !(tolerance >= 0)) {
      throw new BadInputException(
          "--tolerance: %s is no share; give one from 0, like 0.1".formatted(tolerance));
    }
  }

  private Optimizer optimizer(TrainArgument.Chosen chosen) {
    return run.worker.optimizer(chosen.usualOptimizer());
  }

  private TrainingRequest request(TrainArgument.Chosen chosen, RunPrediction runPrediction) {
    TrainingRequest request =
        new TrainingRequest(
            chosen.model(),
            chosen.sequence(),
            chosen.assignment(),
            new TrainingRequest.Learning(
                chosen.usualRule(optimizer(chosen)),
                run.worker.data(),
                AtLeast.one("--steps", steps),
                run.seed),
            new TrainingRequest.Execution(
                run.workers,
                run.computing(),
                TrainingRequest.Machines.THIS_ONE.after(runPrediction.predictedStepSeconds())),
            TrainingRequest.Keeping.NOTHING);
    return expected.emulate ? request.emulating(runPrediction.layers()) : request;
  }

  private boolean within(Item step) {
    if (tolerance == null) {
      return true;
    }
    double off = Math.max(Math.abs(step.predictedError()), Math.abs(step.simulatedError()));
    return off <= tolerance;
  }

  private String title(TrainingRequest request) {
    return "%s, %s, %s%s"
        .formatted(
            request.model(),
            request.assignment().schedule().name(),
            Words.count(request.assignment().size(), "worker"),
            expected.emulate ? ", emulated" : "");
  }

  private void write(
      OutputFolder to,
      String object,
      TrainingRequest request,
      Comparison comparison,
      TrainingFigures figures) {
    to.write("compare.json", object);
    Runs runs = ShownRuns.of(title(request), comparison);
    to.write("report.html", out -> ComparisonHtml.write(runs, comparison, figures, out));
    to.write("timeline.svg", TimelineSvg.of("", runs));
    to.write(TRACE, out -> PerfettoTrace.write(runs.title(), runs.first().timeline(), out));
  }
}
