package dev.pipewright.app.cli.given;

import dev.pipewright.app.cli.input.SimulationOptions;
import dev.pipewright.app.cli.schedule.MadeSchedule;
import dev.pipewright.app.cli.schedule.ScheduleComparison;
import dev.pipewright.app.cli.schedule.ScheduleFiles;
import dev.pipewright.app.cli.schedule.ScheduleOutput;
import dev.pipewright.app.cli.schedule.ScheduleRequest;
import dev.pipewright.app.cli.schedule.ScheduleRuns;
import dev.pipewright.app.cli.terminal.Failures;
import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.text.TrainingLines;
import dev.pipewright.formats.answer.TrainingFiguresJson;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.formats.schedule.CheckedFile;
import dev.pipewright.schedule.MemoryCap;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "simulate",
    description =
        "Runs a plan's schedule, or a schedule of your own, on simulated devices and links.",
    footer = {
      "",
      "Examples:",
      "  pipewright simulate result/plan.json",
      "  pipewright simulate plan.json --model bert-48 --cluster dapple-a --out result",
      "  pipewright simulate schedule.csv --times 1,1,1,0.1"
    })
public final class SimulateCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Mixin private PlanArgument argument = new PlanArgument();

  @Mixin private SimulationOptions simulation = new SimulationOptions();

  @Option(
      names = "--times",
      paramLabel = "F,B,W,comm",
      description =
          "For schedules: times of a stage as the file numbers them, as in `schedule`. Default:"
              + " 1,1,1,0; of a JSON file the times that it recorded.")
  private @Nullable String times;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description =
          "Write report.html, timeline.svg and trace.json, of a plan with flushes plan.json, too; of a"
              + " schedule what `schedule --out` writes.")
  private @Nullable Path out;

  @Option(names = "--json", description = "Print one JSON object and nothing else.")
  private boolean json;

  SimulateCommand() {
    this.spec = CommandSpec.create();
  }

  @Override
  public Integer call() {
    argument.require(spec);
    if (argument.kind() != CheckedFile.Kind.PLAN) {
      return schedule();
    }
    argument.refuse(
        List.of("--times"), spec, "schedules", "a plan, which has its own; leave it out");
    simulation.checkSupportedByPlans();
    GivenFile plan = GivenFile.of(argument);
    String[] names = out == null ? new String[0] : plan.files().toArray(String[]::new);
    try (OutputFolder to = OutputFolder.of(out, names)) { // before anything is printed
      return simulate(plan, to);
    }
  }

  private static String json(SimulationResult run) {
    String object = run.json();
    return run.figures().map(found -> TrainingFiguresJson.added(object, found)).orElse(object);
  }

  private static String text(SimulationResult run) {
    return run.text()
        + run.figures()
            .map(found -> "\n" + TrainingLines.of(found, Terminal.columns(), Terminal.colours()))
            .orElse("");
  }

  private int simulate(GivenFile plan, @Nullable OutputFolder to) {
    SimulationResult run = plan.simulate(simulation);
    spec.commandLine().getOut().print(json ? json(run) : text(run));
    if (to != null) {
      run.write(to);
      spec.commandLine().getErr().println("wrote " + String.join(", ", plan.files()) + " to " + to);
    }
    Optional<String> tooLarge = run.doesNotFit();
    tooLarge.ifPresent(
        reason -> spec.commandLine().getErr().println("pipewright: does not fit: " + reason));
    return tooLarge.isPresent() ? Failures.NO : 0;
  }

  private int schedule() {
    argument.refuse(PlanArgument.FOR_PLANS, spec, "plans", "a schedule; leave it out");
    simulation.checkSupported();
    ScheduleComparison.Asked asked =
        new ScheduleComparison.Asked(
            null,
            null,
            times,
            OptionalInt.empty(),
            ScheduleRequest.USUAL_LIMIT,
            MemoryCap.NONE,
            null);
    try (ScheduleFiles files = new ScheduleFiles(null, null, null, null, null, out)) {
      List<MadeSchedule> all =
          new ScheduleComparison(
                  ScheduleRuns.plain(simulation), argument.path.toString(), List.of(), asked)
              .all();
      return ScheduleOutput.show(all, files, json, spec.commandLine());
    }
  }
}
