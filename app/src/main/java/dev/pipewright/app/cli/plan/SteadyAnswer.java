package dev.pipewright.app.cli.plan;

import dev.pipewright.app.cli.input.Levels;
import dev.pipewright.app.cli.input.ModelArgument;
import dev.pipewright.app.cli.terminal.SearchDeadline;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.problem.SizeLimits;
import dev.pipewright.planner.FlagValues;
import dev.pipewright.planner.SteadyPlanning;
import dev.pipewright.planner.SteadyRequest;
import dev.pipewright.planner.catalog.PlannerEntry;
import dev.pipewright.planner.catalog.PlannerOption;
import dev.pipewright.planner.catalog.SteadyPlanner;
import dev.pipewright.planner.madpipe.PeriodicPlanning;
import dev.pipewright.planner.pipedream.PipeDream2bwPlanning;
import dev.pipewright.planner.pipedream.PipeDreamPlanning;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.units.Units;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** A plan without flushes, shown in the forms that {@code plan} offers. */
abstract class SteadyAnswer implements PlannerAnswer {
  private final SteadyPlanning planning;

  SteadyAnswer(SteadyPlanning planning) {
    this.planning = planning;
  }

  /** Asks a planner of pipelines without flushes. */
  static SteadyAnswer of(
      PlannerEntry entry,
      SteadyPlanner planner,
      String model,
      ModelArgument arguments,
      SynchronousFlags flags,
      LevelFlags levels,
      FlagValues own,
      SearchDeadline patience) {
    Optional<Levels> given = levels.levels(arguments);
    if (given.isEmpty()
        && arguments.cluster == null
        && entry.options().contains(PlannerOption.LEVELS)) {
      throw new BadInputException(
          "no cluster given; add --cluster, or --levels and --bandwidths like 4,4 and 25e9,1e9");
    }
    SteadyProblem problem =
        given.isPresent()
            ? SteadyProblem.ofLevels(model, arguments, given.get())
            : SteadyProblem.of(model, arguments, flags.globalBatch());
    if (planner.quadratic()) {
      SizeLimits.searched(entry.name(), problem.costs().size());
    }
    if (planner.levels()) {
      problem.levels(); // or a sentence
    }
    OptionalInt stages = problem.stages(flags);
    Recomputation recomputation =
        entry.options().contains(PlannerOption.RECOMPUTE)
            ? flags.recomputationByLayers(Recomputation.SELECTIVE)
            : Recomputation.SELECTIVE;
    SteadyRequest request = new SteadyRequest(problem.batch(), stages, recomputation, own);
    long start = System.nanoTime();
    SteadyPlanning planning;
    try {
      planning = planner.search().plan(problem.costs(), request, patience);
    } catch (IllegalArgumentException e) {
      throw new BadInputException("--planner " + entry.name() + ": " + e.getMessage());
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    return switch (planning) {
      case PipeDreamPlanning found -> AsynchronousAnswer.of(found, problem, request, seconds);
      case PipeDream2bwPlanning found -> AsynchronousAnswer.of(found, problem, seconds);
      case PeriodicPlanning found -> new PatternAnswer(found, problem, seconds);
      default -> throw new IllegalStateException("an answer of " + planning.getClass());
    };
  }

  /** Seconds of a mini-batch, or of an update, by the planner's formula. */
  double objective() {
    return planning.seconds();
  }

  /** Seconds of a mini-batch in the steady state; infinite where they are not known. */
  abstract double seconds();

  /** Why the plan cannot be used; empty where it can. */
  Optional<String> misfit() {
    return nothing();
  }

  @Override
  public Optional<String> nothing() {
    return planning.remedy();
  }

  @Override
  public List<String> remarks() {
    return planning.complete() || planning.remedy().isPresent()
        ? List.of()
        : List.of(
            "the search was ended early; the best so far is %s above the lower bound (%s)"
                .formatted(Units.percent(planning.gap()), planning.lowerBound().why()));
  }
}
