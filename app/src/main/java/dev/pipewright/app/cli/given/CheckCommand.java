package dev.pipewright.app.cli.given;

import dev.pipewright.app.cli.input.MemoryCaps;
import dev.pipewright.app.cli.schedule.ScheduleRequest;
import dev.pipewright.app.cli.terminal.Failures;
import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.text.TrainingLines;
import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.formats.answer.TrainingFiguresJson;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.formats.schedule.FileProblem;
import dev.pipewright.formats.schedule.ScheduleCsv;
import dev.pipewright.formats.schedule.ScheduleFile;
import dev.pipewright.formats.schedule.ScheduleJsonReader;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.check.Validator;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import java.io.PrintWriter;
import java.util.ArrayList;
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
        "Checks whether a plan, a schedule (ours in JSON, or PyTorch's CSV) or a layout of"
            + " Megatron's can run: all work exactly once, no deadlock, memory on every device, recorded times and figures."
            + " Prints what was counted, so that a file that ends early is noticed. - reads"
            + " standard input.",
    footer = {
      "",
      "Examples:",
      "  pipewright check result/plan.json",
      "  pipewright check schedule.csv --memory-cap 4 --times 1,1,1,0.1",
      "  pipewright check schedule.csv --sends blocking",
      "  pipewright check --megatron-layout 'Et*7|t*7mL' --pipeline 2 --layers 14 --mtp-layers 1",
      "  pipewright schedule zb-h1 --stages 4 --micro-batches 8 --json > s.json; pipewright check"
          + " s.json"
    })
public final class CheckCommand implements Callable<Integer> {
  private static final List<String> FOR_SCHEDULES = List.of("--memory-cap", "--times", "--sends");
  private static final String BUFFERED = "buffered";
  private static final String BLOCKING = "blocking";

  @Spec private CommandSpec spec;

  @Mixin private PlanArgument argument = new PlanArgument();

  @Mixin private LayoutCheck layout = new LayoutCheck();

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

  @Option(
      names = "--sends",
      paramLabel = "buffered|blocking",
      defaultValue = BUFFERED,
      description =
          "For schedules with sends and receives: whether a send waits for its receive, as large"
              + " messages do that pass through one NCCL stream. Each action counts alone: a send"
              + " next to a receive is not sent in one batch with it. Default: ${DEFAULT-VALUE}.")
  private String sends = BUFFERED;

  @Option(names = "--json", description = "Print one JSON object and nothing else.")
  private boolean json;

  CheckCommand() {
    this.spec = CommandSpec.create();
  }

  @Override
  public Integer call() {
    if (layout.layout != null) {
      refuseOthers();
      return layout.answer(spec.commandLine().getOut(), json);
    }
    argument.require(spec);
    argument.refuse(
        LayoutCheck.OPTIONS,
        spec,
        "--megatron-layout",
        "a file; leave it out, or leave out the file");
    Checked checked =
        switch (argument.kind()) {
          case SCHEDULE_CSV -> schedule(ScheduleCsv.read(argument.path, blocking()));
          case SCHEDULE_JSON -> schedule(ScheduleJsonReader.read(argument.path));
          case PLAN -> plan();
        };
    report(checked);
    return checked.problems().isEmpty() ? 0 : Failures.NO;
  }

  private void refuseOthers() {
    if (argument.isGiven()) {
      throw new BadInputException(
          "--megatron-layout: is checked instead of a file; leave out " + argument.path);
    }
    for (List<String> options : List.of(FOR_SCHEDULES, PlanArgument.FOR_PLANS)) {
      for (String option : options) {
        if (spec.commandLine().getParseResult().hasMatchedOption(option)) {
          throw new BadInputException(option + ": says nothing of a layout; leave it out");
        }
      }
    }
  }

  /**
   * What was looked at and what is wrong with it.
   *
   * @param assumed how the file was read, by a word; with the words for people
   * @param figures what a plan that can run trains, and how fast
   */
  private record Checked(
      Map<String, Object> counted,
      List<FileProblem> problems,
      List<Assumption> assumed,
      Optional<TrainingFigures> figures) {}

  /** What the answer takes for granted. */
  private record Assumption(String key, String value, String words) {}

  private boolean blocking() {
    if (!sends.equals(BUFFERED) && !sends.equals(BLOCKING)) {
      throw new BadInputException(
          "--sends: '%s' is neither; take %s or %s".formatted(sends, BUFFERED, BLOCKING));
    }
    return sends.equals(BLOCKING);
  }

  private List<Assumption> assumed(ScheduleFile file) {
    List<Assumption> assumed = new ArrayList<>();
    String words =
        !file.transfers()
            ? blocking()
                ? "it names no sends; in the order of `schedule --csv-transfers` none waits for ever"
                : ""
            : blocking()
                ? "each send waits for its receive"
                : "sends are taken as buffered; --sends blocking has each wait for its receive";
    assumed.add(new Assumption("sends", sends, words));
    if (file.olderLetters()) {
      assumed.add(
          new Assumption(
              "letters",
              "older",
              "letters of older PyTorch: B is the gradient of the input (now I), BW the whole"
                  + " backward pass (now B)"));
    }
    return assumed;
  }

  private Checked schedule(ScheduleFile file) {
    argument.refuse(PlanArgument.FOR_PLANS, spec, "plans", "a schedule; leave it out");
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
    return new Checked(Counted.of(schedule), file.problems(), assumed(file), Optional.empty());
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
    argument.refuse(
        FOR_SCHEDULES,
        spec,
        "schedules",
        "a plan, which has its own; leave it out, or give --memory");
    GivenFile plan;
    try {
      plan = GivenFile.of(argument);
    } catch (BadInputException e) {
      return unsound(e);
    }
    List<FileProblem> problems = plan.problems();
    Optional<TrainingFigures> figures = problems.isEmpty() ? plan.figures() : Optional.empty();
    return new Checked(plan.counted(), problems, List.of(), figures);
  }

  /** A plan whose parts read well but do not go together has that problem; others are refused. */
  private Checked unsound(BadInputException refused) {
    FileProblem problem =
        refused
            .unsound()
            .map(FileProblem::of)
            .filter(found -> found.file().equals(argument.path))
            .orElseThrow(() -> refused);
    return new Checked(Map.of(), List.of(problem), List.of(), Optional.empty());
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
      checked.assumed().forEach(each -> object.put(each.key(), each.value()));
      checked.figures().ifPresent(found -> object.putAll(TrainingFiguresJson.members(found)));
      out.print(JsonText.of(object));
    } else if (problems.isEmpty()) {
      String words =
          counted.entrySet().stream()
              .map(part -> amount(part.getValue(), part.getKey().replace('_', '-')))
              .collect(Collectors.joining(", "));
      out.print(Terminal.sentence(argument.path + ": can run: " + words));
    } else {
      problems.forEach(problem -> out.print(Terminal.sentence(problem.toString())));
    }
    if (!json) {
      checked.assumed().stream()
          .map(Assumption::words)
          .filter(words -> !words.isEmpty())
          .forEach(words -> out.print(Terminal.sentence(words)));
    }
    if (!json) {
      checked
          .figures()
          .ifPresent(
              found -> out.print(TrainingLines.of(found, Terminal.columns(), Terminal.colours())));
    }
  }

  /** {@code 1 rank}, {@code 2 micro-batches}. */
  private static String amount(Object number, String things) {
    boolean one = number.toString().equals("1");
    return number + " " + (one ? things.replaceFirst("(?<=ch)es$|s$", "") : things);
  }
}
