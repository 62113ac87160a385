package dev.pipewright.app.cli.plan;

import dev.pipewright.app.cli.input.Mistakes;
import dev.pipewright.app.cli.input.OptionValues;
import dev.pipewright.app.cli.sweep.SweepPlanner;
import dev.pipewright.app.cli.terminal.ParseMistakes;
import dev.pipewright.cost.Throughput;
import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.sweep.SweepFigures;
import dev.pipewright.formats.sweep.SweepFigures.SweepShape;
import dev.pipewright.formats.sweep.SweepPoint;
import dev.pipewright.formats.sweep.SweepResult;
import dev.pipewright.formats.sweep.SweepResult.Status;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.Objective;
import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.SearchStoppedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/** Plans a point of a sweep as the command {@code plan} does whose flags it has. */
final class PointPlanner implements SweepPlanner {
  private static final List<String> OF_ANSWERS =
      List.of(
          "--sweep",
          "--shard",
          "--merge",
          "--jobs",
          "--out",
          "--json",
          "--export",
          "--front",
          "--nearest",
          "--around",
          "--torchtitan-version",
          "--help",
          "--version",
          "--debug");

  @Override
  public void check(SweepPoint point) {
    command(point);
  }

  private static PlanCommand command(SweepPoint point) {
    List<String> words = new ArrayList<>(List.of("plan", point.model().value()));
    words.addAll(
        List.of("--cluster", point.cluster().value(), "--global-batch", point.batch().value()));
    words.addAll(point.words());
    PlanCommand command = new PlanCommand();
    CommandLine line = new CommandLine(command);
    CommandLine program = new CommandLine(CommandSpec.create().name("pipewright"));
    program.addSubcommand("plan", line);
    line.getCommandSpec().parser().collectErrors(true).expandAtFiles(false);
    program.setExpandAtFiles(false);
    OptionValues.register(program);
    ParseResult parsed = program.parseArgs(words.toArray(String[]::new));
    for (OptionSpec option : line.getParseResult().matchedOptions()) {
      if (OF_ANSWERS.contains(option.longestName())) {
        throw new BadInputException(
            option.longestName() + ": does not go with a point of a sweep; leave it out");
      }
    }
    Mistakes mistakes = ParseMistakes.of(parsed);
    if (!mistakes.sentences().isEmpty()) {
      throw new BadInputException(mistakes.sentences().get(0));
    }
    if (!command.plansSteps()) {
      throw new BadInputException(
          "a sweep keeps plans of synchronous steps, which these flags do not ask for; take another --planner or --objective");
    }
    return command;
  }

  @Override
  public SweepResult plan(SweepPoint point) {
    return timed(
        point,
        () -> {
          PlannerAnswer answer = command(point).point();
          String misfit =
              answer
                  .nothing()
                  .orElseGet(() -> answer.fits() ? "" : String.join("; ", answer.remarks()));
          Optional<Answer> planned = answer.planned();
          return misfit.isEmpty() && planned.isPresent()
              ? new SweepResult(
                  point.key(), Status.PLANNED, 0, Optional.of(figures(planned.get())), "")
              : new SweepResult(point.key(), Status.NOTHING_FITS, 0, Optional.empty(), misfit);
        });
  }

  /** A point that fails does not end the others, whatever the reason is. */
  private static SweepResult timed(SweepPoint point, Supplier<SweepResult> planned) {
    long start = System.nanoTime();
    SweepResult result;
    try {
      result = planned.get();
    } catch (BadInputException | SearchStoppedException e) {
      result = failed(point, String.valueOf(e.getMessage()));
    } catch (RuntimeException e) {
      result = failed(point, "failed unexpectedly: " + e);
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    return new SweepResult(
        result.key(), result.status(), seconds, result.figures(), result.sentence());
  }

  private static SweepResult failed(SweepPoint point, String sentence) {
    String line = sentence.replaceAll("\\s*\\R\\s*", " ");
    return new SweepResult(point.key(), Status.FAILED, 0, Optional.empty(), line);
  }

  private static SweepFigures figures(Answer answer) {
    Planning planning = answer.planning();
    Candidate best = planning.best().orElseThrow();
    PipelinePlan plan = best.plan();
    double bound = planning.lowerBound().value();
    Optional<Throughput> rate = answer.training().flatMap(TrainingFigures::throughput);
    return new SweepFigures(
        planning.planner(),
        planning.objective().key(),
        planning.objective() == Objective.STEP_TIME
            ? best.estimate().stepSeconds() // which ranks plans, as in the answer of the command
            : planning.value(),
        bound > 0 && Double.isFinite(bound) ? OptionalDouble.of(bound) : OptionalDouble.empty(),
        best.seconds(),
        answer.cluster().size(),
        plan.devices(),
        best.peakBytes(),
        rate.map(found -> OptionalDouble.of(found.samplesPerSecond()))
            .orElse(OptionalDouble.empty()),
        rate.map(Throughput::tokensPerSecond).orElse(OptionalDouble.empty()),
        rate.map(Throughput::utilization).orElse(OptionalDouble.empty()),
        new SweepShape(
            plan.spec().scheduleName(),
            plan.stages().size(),
            plan.replicas(),
            plan.microBatches(),
            plan.microBatch()));
  }
}
