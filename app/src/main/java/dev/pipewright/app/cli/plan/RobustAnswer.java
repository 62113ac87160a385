package dev.pipewright.app.cli.plan;

import dev.pipewright.api.Planned;
import dev.pipewright.api.Planners;
import dev.pipewright.api.Problem;
import dev.pipewright.api.RobustPlanned;
import dev.pipewright.app.cli.input.ModelArgument;
import dev.pipewright.app.cli.terminal.SearchDeadline;
import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.formats.schedule.JitterJson;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.sim.MonteCarlo;
import dev.pipewright.units.Units;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** The plan whose steps have the least 95th percentile, and why it is or is not the fastest. */
final class RobustAnswer extends FurtherAnswer {
  private static final double P95 = 0.95;

  private final RobustPlanned found;

  private RobustAnswer(RobustPlanned found, Answer answer) {
    super(answer);
    this.found = found;
  }

  /**
   * Plans, then simulates many steps of the best.
   *
   * @param target whose files can say the plan
   */
  static RobustAnswer of(
      String planner,
      String model,
      ModelArgument arguments,
      SynchronousFlags synchronous,
      RobustFlags flags,
      Optional<ExportFlags.Target> target,
      SearchDeadline patience) {
    RobustFlags.refuse(synchronous);
    Problem problem =
        new Problem(
            arguments.named(model, Optional.empty(), OptionalInt.empty()), synchronous.options());
    RobustPlanned found =
        Planners.planRobust(
            problem,
            each -> StepAnswer.plan(each, planner, target, patience).planned(),
            flags.jitter(),
            flags.runs(),
            patience);
    return new RobustAnswer(
        found, StepAnswer.of(found.planned(), arguments.profileBatch(), patience.ended()));
  }

  @Override
  public String json() {
    return found
        .steps()
        .map(steps -> JsonText.joined(answer.json(), Map.of("robust", object(steps))))
        .orElseGet(answer::json);
  }

  private Map<String, Object> object(MonteCarlo steps) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("step_s", best(found.planned()).seconds());
    object.putAll(new JitterJson(found.jitter(), steps).object());
    object.put("ranks", ranks(found.planned()));
    object.put("fastest", found.differs() ? Optional.of(fastest()) : Optional.empty());
    return object;
  }

  private Map<String, Object> fastest() {
    Candidate nominal = found.fastest().orElseThrow();
    MonteCarlo steps = found.fastestSteps().orElseThrow();
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("summary", nominal.plan().summary());
    object.put("schedule", nominal.plan().spec().scheduleName());
    object.put("step_s", nominal.seconds());
    object.put("median_s", steps.median());
    object.put("p95_s", steps.quantile(P95));
    object.put("ranks", nominal.plan().placement().ranks());
    return object;
  }

  private static Candidate best(Planned planned) {
    return planned.planning().best().orElseThrow();
  }

  private static int ranks(Planned planned) {
    return planned.plan().placement().ranks();
  }

  @Override
  public void print(PrintWriter out) {
    answer.print(out);
    found
        .steps()
        .ifPresent(steps -> {
          out.println();
          String runs = new JitterJson(found.jitter(), steps).words(Units::seconds);
          out.print(
              Terminal.sentence(
                  "%s; %s without. %s"
                      .formatted(
                          runs, Units.seconds(best(found.planned()).seconds()), why(steps))));
        });
  }

  /** Why another plan than the fastest is chosen. */
  private String why(MonteCarlo steps) {
    if (!found.differs()) {
      return "It is also the fastest plan where durations do not vary.";
    }
    Candidate nominal = found.fastest().orElseThrow();
    MonteCarlo others = found.fastestSteps().orElseThrow();
    int own = ranks(found.planned());
    int theirs = nominal.plan().placement().ranks();
    double step = best(found.planned()).seconds();
    return "The plan that is fastest where durations do not vary (%s, %s under %s) takes %s (%s), but 95 %% within %s (%s): that is %s its step, and here %s%s."
        .formatted(
            nominal.kind(),
            Words.shape(nominal.plan(), 60),
            nominal.plan().spec().scheduleName(),
            Units.seconds(nominal.seconds()),
            Numbers.change(nominal.seconds() / step - 1),
            Units.seconds(others.quantile(P95)),
            Numbers.change(others.quantile(P95) / steps.quantile(P95) - 1),
            Numbers.times(others.quantile(P95) / nominal.seconds()),
            Numbers.times(steps.quantile(P95) / step),
            theirs == own
                ? ""
                : "; its steps wait for the slowest of %s, and here of %d"
                    .formatted(Words.count(theirs, "rank"), own));
  }
}
