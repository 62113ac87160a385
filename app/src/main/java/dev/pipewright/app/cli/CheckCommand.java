package dev.pipewright.app.cli;

import dev.pipewright.formats.BadInputException;
import dev.pipewright.formats.CheckedFile;
import dev.pipewright.formats.FileProblem;
import dev.pipewright.formats.JsonText;
import dev.pipewright.formats.ScheduleCsv;
import dev.pipewright.formats.ScheduleFile;
import dev.pipewright.formats.ScheduleJsonReader;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "check",
    description =
        "Says whether a plan or a schedule (ours in JSON, or PyTorch's) can run: all work once, no"
            + " deadlock, memory on every device, recorded times and figures. What was counted is"
            + " said too, since a file that ends early may be a smaller whole. - reads standard"
            + " input.",
    footer = {
      "",
      "Examples:",
      "  pipewright check result/plan.json",
      "  pipewright check schedule.csv --memory-cap 4 --times 1,1,1,0.1",
      "  pipewright schedule zb-h1 --stages 4 --micro-batches 8 --json > s.json; pipewright check"
          + " s.json"
    })
final class CheckCommand implements Callable<Integer> {
  private static final List<String> FOR_SCHEDULES = List.of("--memory-cap", "--times");
  private static final List<String> FOR_PLANS =
      List.of(
          "--model",
          "--cost-model",
          "--cluster",
          "--profile-batch",
          "--model-format",
          "--memory",
          "--memory-reserve",
          "--optimizer",
          "--precision");

  @Spec private CommandSpec spec;

  @Mixin private PlanArgument argument = new PlanArgument();

  @Option(
      names = "--memory-cap",
      paramLabel = "X",
      description =
          "For schedules: the most activations a rank may hold, counted in micro-batches of one"
              + " stage; one number, or one per rank: 8:7:6. Default: the cap that the file names, if any.")
  private @Nullable String memoryCap;

  @Option(
      names = "--times",
      paramLabel = "F,B,W,comm",
      description =
          "For schedules: the times at which the cap is passed are those of a run with these, as in"
              + " `schedule`. Default: the recorded times, or 1,1,1,0.")
  private @Nullable String times;

  @Option(names = "--json", description = "Print one JSON object and nothing else.")
  private boolean json;

  CheckCommand() {
    this.spec = CommandSpec.create();
  }

  @Override
  public Integer call() {
    Checked checked =
        switch (CheckedFile.kind(argument.path)) {
          case SCHEDULE_CSV -> schedule(ScheduleCsv.read(argument.path));
          case SCHEDULE_JSON -> schedule(ScheduleJsonReader.read(argument.path));
          case PLAN -> plan();
        };
    report(checked);
    return checked.problems().isEmpty() ? 0 : Failures.NO;
  }

  /** What was looked at and what is wrong with it. */
  private record Checked(
      Map<String, Object> counted, List<FileProblem> problems, List<String> remarks) {}

  private Checked schedule(ScheduleFile file) {
    refuse(FOR_PLANS, "plans", "a schedule; leave it out");
    Schedule schedule = file.schedule();
    Optional<double[]> caps =
        memoryCap == null
            ? file.memoryCap()
            : Optional.of(MemoryCaps.each(MemoryCaps.of(memoryCap), schedule.ranks()));
    ScheduleRequest.Times given =
        ScheduleRequest.Times.of(times == null ? "1,1,1,0" : times, schedule.ranks());
    if (times != null && caps.isEmpty()) {
      throw new BadInputException(
          "--times: are for when a rank passes its cap, and there is none; add --memory-cap");
    }
    if (file.problems().isEmpty() && caps.isPresent()) {
      double[][] starts =
          times == null && file.times().isPresent()
              ? file.times().get().starts()
              : starts(file, given);
      file.addAll(Validator.overCap(schedule, starts, file.chunks(), caps.get()));
    }
    return new Checked(Counted.of(schedule), file.problems(), List.of());
  }

  /** Throws where an option is given that says nothing about this kind of file. */
  private void refuse(List<String> options, String what, String otherwise) {
    for (String option : options) {
      if (spec.commandLine().getParseResult().hasMatchedOption(option)) {
        throw new BadInputException(
            "%s: is for %s, and %s is %s".formatted(option, what, argument.path, otherwise));
      }
    }
  }

  private static double[][] starts(ScheduleFile file, ScheduleRequest.Times given) {
    Schedule schedule = file.schedule();
    ScheduleRequest request =
        new ScheduleRequest(
            schedule.ranks(),
            schedule.microBatches() * schedule.placement().chains(),
            file.chunks(),
            given,
            Double.POSITIVE_INFINITY);
    Run run = StaticSimulator.run(schedule, request.opTimes(schedule.placement()));
    double[][] starts = new double[schedule.ranks()][];
    for (int rank = 0; rank < starts.length; rank++) {
      starts[rank] = new double[schedule.packed(rank).length];
      for (int i = 0; i < starts[rank].length; i++) {
        starts[rank][i] = run.start(rank, i);
      }
    }
    return starts;
  }

  private Checked plan() {
    refuse(FOR_SCHEDULES, "schedules", "a plan, which has its own; leave it out, or give --memory");
    GivenPlan plan = argument.load();
    List<FileProblem> problems = plan.problems();
    return new Checked(plan.counted(), problems, problems.isEmpty() ? plan.remarks() : List.of());
  }

  private void report(Checked checked) {
    PrintWriter out = spec.commandLine().getOut();
    List<FileProblem> problems = checked.problems();
    Map<String, Object> counted = checked.counted();
    if (json) {
      Map<String, Object> object = new LinkedHashMap<>();
      object.put("valid", problems.isEmpty());
      object.put("problems", problems.stream().map(FileProblem::json).toList());
      object.put("counted", counted);
      if (!checked.remarks().isEmpty()) {
        object.put("remarks", checked.remarks());
      }
      out.print(JsonText.of(object));
    } else if (problems.isEmpty()) {
      String words =
          counted.entrySet().stream()
              .map(part -> amount(part.getValue(), part.getKey().replace('_', '-')))
              .collect(Collectors.joining(", "));
      out.println(argument.path + ": can run: " + words);
    } else {
      problems.forEach(out::println);
    }
    checked
        .remarks()
        .forEach(remark -> spec.commandLine().getErr().println("pipewright: " + remark));
  }

  /** {@code 1 rank}, {@code 2 micro-batches}. */
  private static String amount(Object number, String things) {
    boolean one = number.toString().equals("1");
    return number + " " + (one ? things.replaceFirst("(?<=ch)es$|s$", "") : things);
  }
}
