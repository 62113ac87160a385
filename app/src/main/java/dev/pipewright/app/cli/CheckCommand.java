package dev.pipewright.app.cli;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.formats.BadInputException;
import dev.pipewright.formats.CheckedFile;
import dev.pipewright.formats.FileProblem;
import dev.pipewright.formats.JsonText;
import dev.pipewright.formats.ScheduleCsv;
import dev.pipewright.formats.ScheduleFile;
import dev.pipewright.formats.ScheduleJsonReader;
import dev.pipewright.plan.Plan;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator;
import dev.pipewright.sim.Recorder;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.SimulatedOracle;
import dev.pipewright.sim.StaticSimulator;
import dev.pipewright.trace.Timeline;
import dev.pipewright.units.Units;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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
  private static final Pattern STAGE = Pattern.compile("stages\\[(\\d+)].*");
  private static final List<String> FOR_SCHEDULES = List.of("--memory-cap", "--times");
  private static final List<String> FOR_PLANS =
      List.of(
          "--model",
          "--cost-model",
          "--cluster",
          "--profile-batch",
          "--model-format",
          "--memory",
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
  private record Checked(Schedule schedule, List<FileProblem> problems) {}

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
    return new Checked(schedule, file.problems());
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
    Optional<AsynchronousArgument> asynchronous = AsynchronousArgument.load(argument);
    if (asynchronous.isPresent()) {
      Schedule endless = AsynchronousCheck.schedule(asynchronous.get());
      return new Checked(
          endless, AsynchronousCheck.problems(argument.path, asynchronous.get(), endless));
    }
    PlanArgument.Loaded loaded = argument.load();
    Plan plan = loaded.file().plan();
    Schedule schedule = plan.schedule();
    List<FileProblem> problems = new ArrayList<>();
    for (Validator.Problem problem : Validator.check(schedule)) {
      problems.add(FileProblem.ofPlan(argument.path, problem));
    }
    boolean runs = problems.isEmpty();
    List<String> misfits = PlanFit.problems(plan, loaded.costed());
    misfits.forEach(misfit -> problems.add(misfit(argument.path, misfit)));
    if (misfits.isEmpty()) {
      memory(loaded, runs, problems);
    }
    return new Checked(schedule, problems);
  }

  static FileProblem misfit(Path path, String words) {
    Matcher stage = STAGE.matcher(words);
    return stage.matches()
        ? FileProblem.ofStage(path, Integer.parseInt(stage.group(1)), "misfit", words)
        : FileProblem.of(path, "misfit", words);
  }

  private void memory(PlanArgument.Loaded loaded, boolean runs, List<FileProblem> problems) {
    Plan plan = loaded.file().plan();
    try {
      Assessment assessment = loaded.costModel().oracle(loaded.costed().costs()).assess(plan);
      boolean fits = assessment.stages().stream().allMatch(stage -> stage.memory().fits());
      if (fits) {
        return;
      }
      @Nullable Timeline timeline =
          runs
              ? Recorder.timeline(plan, assessment.stages(), SimulatedOracle.run(plan, assessment))
              : null;
      for (int stage = 0; stage < assessment.stages().size(); stage++) {
        StageMemory memory = assessment.stages().get(stage).memory();
        if (!memory.fits()) {
          String words =
              "stage %d needs %s on %s of %s%s; recompute, or take more stages or smaller micro-batches"
                  .formatted(
                      stage,
                      Units.binary(memory.peakBytes(), "B"),
                      devices(plan.stages().get(stage).devices()),
                      memory.capacity(),
                      timeline == null ? "" : when(timeline.memory().get(stage), memory));
          problems.add(FileProblem.ofStage(argument.path, stage, "memory", words));
        }
      }
    } catch (IllegalArgumentException e) {
      problems.add(FileProblem.of(argument.path, "misfit", String.valueOf(e.getMessage())));
    }
  }

  /** {@code device 3}, {@code each of devices 0, 1 … 7}. */
  static String devices(List<Integer> devices) {
    if (devices.size() == 1) {
      return "device " + devices.get(0);
    }
    int first = devices.get(0);
    int last = devices.get(devices.size() - 1);
    return devices.size() == 2
        ? "each of devices %d and %d".formatted(first, last)
        : "each of devices %d … %d".formatted(first, last);
  }

  /** When in the step memory is too much, and when it is most. */
  private static String when(Timeline.Memory memory, StageMemory sizes) {
    int above = -1;
    int peak = 0;
    for (int i = 0; i < memory.bytes().length; i++) {
      if (above < 0 && memory.bytes()[i] > sizes.capacity().value()) {
        above = i;
      }
      if (memory.bytes()[i] > memory.bytes()[peak]) {
        peak = i;
      }
    }
    if (above < 0) {
      return "";
    }
    return ", too much from %s of the step on, most at %s"
        .formatted(Units.seconds(memory.seconds()[above]), Units.seconds(memory.seconds()[peak]));
  }

  private void report(Checked checked) {
    PrintWriter out = spec.commandLine().getOut();
    List<FileProblem> problems = checked.problems();
    Map<String, Object> counted = counted(checked.schedule());
    if (json) {
      Map<String, Object> object = new LinkedHashMap<>();
      object.put("valid", problems.isEmpty());
      object.put("problems", problems.stream().map(FileProblem::json).toList());
      object.put("counted", counted);
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
  }

  /** {@code 1 rank}, {@code 2 micro-batches}. */
  private static String amount(Object number, String things) {
    boolean one = number.toString().equals("1");
    return number + " " + (one ? things.replaceFirst("(?<=ch)es$|s$", "") : things);
  }

  /** So that a user sees what a file lacks that ends early and is still complete. */
  private static Map<String, Object> counted(Schedule schedule) {
    Map<String, Object> counted = new LinkedHashMap<>();
    counted.put("ranks", schedule.ranks());
    counted.put("stages", schedule.placement().depth());
    counted.put("micro_batches", schedule.microBatches() * schedule.placement().chains());
    counted.put("ops", schedule.size());
    return counted;
  }
}
