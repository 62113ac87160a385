package dev.pipewright.app.cli.plan;

import dev.pipewright.app.cli.input.ModelArgument;
import dev.pipewright.app.cli.terminal.SearchDeadline;
import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.formats.problem.Costed;
import dev.pipewright.formats.problem.SizeLimits;
import dev.pipewright.formats.problem.StepOptions;
import dev.pipewright.planner.FlagValues;
import dev.pipewright.planner.Objective;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.catalog.PlannerCatalog;
import dev.pipewright.planner.catalog.PlannerEntry;
import dev.pipewright.planner.catalog.SteadyPlanner;
import dev.pipewright.units.Units;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The plan without flushes that takes least for a mini-batch among those that fit into memory, of
 * all planners of throughput. Their objectives differ in what they leave out, so plans that the
 * simulator runs are compared by what it says; the period of a pattern holds as it is.
 */
public final class ThroughputAnswer implements PlannerAnswer {
  /** For users it is {@code auto} with an objective. */
  static final String NAME = PlannerCatalog.DEFAULT + " for throughput";

  private final List<Rival> rivals; // the fastest that fits first

  /**
   * What one of the planners proposes.
   *
   * @param seconds of a mini-batch in the steady state; infinite where there is no plan
   * @param misfit why it cannot be taken; empty where it can
   * @param answer empty where the planner refuses
   */
  private record Rival(
      String planner, double seconds, Optional<String> misfit, Optional<PlannerAnswer> answer) {
    @Override
    public String toString() {
      String time = Double.isFinite(seconds) ? " " + Units.seconds(seconds) : "";
      return planner + time + misfit.map(why -> " (" + why + ")").orElse("");
    }
  }

  private ThroughputAnswer(List<Rival> rivals) {
    this.rivals = rivals;
  }

  /** Asks all of them; throws {@link BadInputException} where none could answer. */
  static ThroughputAnswer of(
      String model,
      ModelArgument arguments,
      SynchronousFlags flags,
      LevelFlags levels,
      SearchDeadline patience) {
    int samples = flags.globalBatch();
    Costed costed = arguments.costed(model, Optional.empty(), OptionalInt.empty(), samples);
    SizeLimits.devices(costed.workload().cluster());
    flags.stages(costed); // what none of them could answer
    List<Rival> rivals = new ArrayList<>();
    for (PlannerEntry entry : PlannerCatalog.entries(Objective.THROUGHPUT)) {
      if (entry.method() instanceof SteadyPlanner planner) {
        rivals.add(
            asked(
                entry.name(),
                () ->
                    SteadyAnswer.of(
                        entry,
                        planner,
                        model,
                        arguments,
                        flags,
                        levels,
                        FlagValues.NONE,
                        patience)));
      }
    }
    if (flags.stages(costed).orElse(1) == 1) {
      StepOptions oneStage = flags.options().withStages(1);
      rivals.add(
          oneDevice(
              StepAnswer.of(
                  PlannerCatalog.STRAIGHT,
                  model,
                  arguments,
                  flags,
                  oneStage,
                  Optional.empty(),
                  patience)));
    }
    rivals.sort(
        Comparator.comparing((Rival rival) -> rival.misfit().isPresent())
            .thenComparingDouble(Rival::seconds));
    return new ThroughputAnswer(rivals);
  }

  /** A planner that refuses a network or cluster leaves it to the others. */
  private static Rival asked(String planner, Supplier<SteadyAnswer> asked) {
    try {
      SteadyAnswer answer = asked.get();
      return new Rival(planner, answer.seconds(), answer.misfit(), Optional.of(answer));
    } catch (BadInputException e) {
      return new Rival(
          planner,
          Double.POSITIVE_INFINITY,
          Optional.of(String.valueOf(e.getMessage())),
          Optional.empty());
    }
  }

  private static Rival oneDevice(Answer answer) {
    double seconds =
        answer.planning().best().map(Candidate::seconds).orElse(Double.POSITIVE_INFINITY);
    return new Rival(
        "one device within its memory", seconds, answer.nothing(), Optional.of(answer));
  }

  private Optional<PlannerAnswer> best() {
    Rival first = rivals.get(0);
    return first.misfit().isPresent() ? Optional.empty() : first.answer();
  }

  @Override
  public String json() {
    return best().map(PlannerAnswer::json).orElseGet(this::withoutPlan);
  }

  private String withoutPlan() {
    Map<String, Object> objective = new LinkedHashMap<>();
    objective.put("name", "minibatch_s");
    objective.put("value", Optional.empty());
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("planner", PlannerCatalog.DEFAULT);
    object.put("objective", objective);
    object.put("plan", Optional.empty());
    object.put("candidates", List.of());
    return JsonText.of(object);
  }

  @Override
  public void print(PrintWriter out) {
    best().ifPresent(answer -> answer.print(out));
  }

  @Override
  public Optional<TrainingFigures> figures() {
    return best().flatMap(PlannerAnswer::figures);
  }

  @Override
  public Optional<String> nothing() {
    return best().isPresent()
        ? Optional.empty()
        : Optional.of("of the planners without flushes none has a plan: " + words(rivals, "; "));
  }

  @Override
  public List<String> remarks() {
    List<String> remarks = new ArrayList<>();
    best().ifPresent(answer -> remarks.addAll(answer.remarks()));
    remarks.add(
        "for a mini-batch in the steady state, simulated with its update: %s, the least that fits; %s"
            .formatted(rivals.get(0), words(rivals.subList(1, rivals.size()), "; ")));
    return remarks;
  }

  private static String words(List<Rival> rivals, String between) {
    return rivals.stream().map(Rival::toString).collect(Collectors.joining(between));
  }

  @Override
  public List<String> files() {
    return best().map(PlannerAnswer::files).orElse(List.of());
  }

  @Override
  public void write(OutputFolder out) {
    best().ifPresent(answer -> answer.write(out));
  }
}
