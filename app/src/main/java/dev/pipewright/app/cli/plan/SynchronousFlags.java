package dev.pipewright.app.cli.plan;

import dev.pipewright.app.cli.schedule.GivenSchedule;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.problem.Costed;
import dev.pipewright.formats.problem.StepOptions;
import dev.pipewright.planner.FlagValues;
import dev.pipewright.planner.catalog.PlannerCatalog;
import dev.pipewright.planner.catalog.PlannerEntry;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import dev.pipewright.schedule.catalog.UpdateSemantics;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The flags of planners of synchronous training. */
public final class SynchronousFlags {
  @Option(
      names = "--global-batch",
      paramLabel = "N",
      description = "Samples per training step; of a mini-batch for planners without flushes.")
  private @Nullable Integer globalBatch;

  @Option(
      names = "--micro-batch",
      paramLabel = "N",
      description = "Samples of a micro-batch; every size that divides is tried otherwise.")
  private @Nullable Integer microBatch;

  @Option(
      names = "--cost-model",
      paramLabel = "NAME",
      defaultValue = StepOptions.COST_MODEL,
      description = "pipewright, dapple, dapple-published, dapple-repo.")
  private String costModel = StepOptions.COST_MODEL;

  @Option(
      names = "--schedule",
      paramLabel = "NAME",
      description =
          "A schedule (`pipewright schedule --help` lists them) or a file of one; the better of 1f1b"
              + " and 1f1b-b otherwise.")
  private @Nullable String schedule;

  @Option(
      names = "--chunks",
      paramLabel = "N",
      description = "Stages of each rank, for schedules with several.")
  private @Nullable Integer chunks;

  @Option(
      names = "--recompute",
      paramLabel = "MODE",
      defaultValue = StepOptions.RECOMPUTE,
      description =
          "auto and selective (what memory demands), none, stage-input and full (all layers),"
              + " except-last (all layers, but not of a step's last micro-batch).")
  private String recompute = StepOptions.RECOMPUTE;

  @Option(
      names = "--evaluate",
      paramLabel = "PLAN.json",
      description =
          "Score this plan instead of searching: a file of `plan`, or of another program, such as"
              + " `export` writes. MODEL and --global-batch are the file's where they are left"
              + " out.")
  private @Nullable Path evaluate;

  @Mixin private ReasonFlags reasons = new ReasonFlags();

  @Option(
      names = "--stages",
      paramLabel = "P",
      description = "Exactly so many stages; as many as are best otherwise.")
  private @Nullable Integer stages;

  /** Samples of a step; throws {@link BadInputException} where they are none. */
  int globalBatch() {
    if (globalBatch == null) {
      throw new BadInputException("no --global-batch; add the samples of a training step, like 64");
    }
    StepOptions.checkBatch(globalBatch);
    return globalBatch;
  }

  /** Whether the command line says the samples of a step. */
  boolean saysBatch() {
    return globalBatch != null;
  }

  /** Takes the samples of a plan's step where the command line says none. */
  void fallBackTo(long samples) {
    globalBatch = globalBatch == null ? Math.toIntExact(samples) : globalBatch;
  }

  /**
   * How many stages a pipeline has to have; empty where any number will do. Throws {@link
   * BadInputException} where there are no such pipelines.
   */
  OptionalInt stages(Costed costed) {
    return StepOptions.stages(number(stages), costed);
  }

  /**
   * The same.
   *
   * @param layers stages into which the model can be cut at most
   */
  OptionalInt stages(String model, IntSupplier layers, String cluster, int devices) {
    return StepOptions.stages(number(stages), model, layers, cluster, devices);
  }

  private static OptionalInt number(@Nullable Integer value) {
    return value == null ? OptionalInt.empty() : OptionalInt.of(value);
  }

  /** Refuses a number of stages that no network allows, or that the planner cannot choose. */
  void checkStages(String planner) {
    if (stages == null) {
      return;
    }
    if (evaluate != null && stages >= 1) {
      throw new BadInputException(
          "--stages: --evaluate scores a plan as it is, and finds none; leave out one of them");
    }
    StepOptions.checkStages(planner, stages);
  }

  /** What the best plan is compared with. */
  ReasonFlags reasons() {
    return reasons;
  }

  /** The plan to score instead of searching. */
  Optional<Path> evaluate() {
    return Optional.ofNullable(evaluate);
  }

  /** What is stated of a step; throws {@link BadInputException} where its batch is none. */
  StepOptions options() {
    return options(globalBatch());
  }

  private StepOptions options(int samples) {
    return new StepOptions(
        samples,
        number(microBatch),
        costModel,
        Optional.ofNullable(schedule),
        Optional.ofNullable(schedule).filter(GivenSchedule::isFile).map(SynchronousFlags::given),
        number(chunks),
        recompute,
        number(stages),
        FlagValues.NONE);
  }

  private static ScheduleEntry given(String name) {
    GivenSchedule given = GivenSchedule.read(name);
    return ScheduleEntry.given(given.schedule().named(given.name()));
  }

  /** The planner that is meant where only its schedule is named. */
  PlannerEntry meant(PlannerEntry planner) {
    return planner.name().equals(PlannerCatalog.DEFAULT)
        ? ofSchedule().flatMap(PlannerCatalog::find).orElse(planner)
        : planner;
  }

  /** Whether the schedule is the one that a planner without flushes plans for. */
  boolean isScheduleOf(PlannerEntry planner) {
    return ofSchedule().equals(Optional.of(planner.name()));
  }

  /** The planner without flushes that plans for the schedule. */
  private Optional<String> ofSchedule() {
    return Optional.ofNullable(schedule)
        .flatMap(ScheduleCatalog::find)
        .filter(entry -> entry.updates() != UpdateSemantics.FLUSH)
        .flatMap(StepOptions::planner);
  }

  /**
   * How planners that recompute layer by layer do.
   *
   * @param auto what is meant where nothing is said
   */
  Recomputation recomputationByLayers(Recomputation auto) {
    return StepOptions.recomputationByLayers(recompute, auto);
  }
}
