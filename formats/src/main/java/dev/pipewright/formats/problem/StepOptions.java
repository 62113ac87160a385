package dev.pipewright.formats.problem;

import dev.pipewright.cost.CostModel;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Suggestion;
import dev.pipewright.planner.FlagValues;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.Request.Shape;
import dev.pipewright.planner.ScheduledPlanner.Choice;
import dev.pipewright.planner.catalog.PlannerCatalog;
import dev.pipewright.planner.catalog.StepPlanner;
import dev.pipewright.planner.catalog.StepPlanner.Schedules;
import dev.pipewright.planner.madpipe.MadPipe;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.IntSupplier;
import java.util.stream.Stream;

/**
 * A step of synchronous training, as a user states it. Words are those of the command line's
 * options; what is empty has its default.
 *
 * @param globalBatch samples of a step
 * @param microBatch samples of a micro-batch; every size that divides is tried where empty
 * @param costModel what ranks plans, like {@value #COST_MODEL}
 * @param schedule the name of a schedule; each that the planner tries where empty
 * @param given the schedule, where {@code schedule} names none of the catalogue
 * @param chunks stages of each rank, for schedules with several
 * @param recompute which activations are recomputed, like {@value #RECOMPUTE}
 * @param stages of the pipeline, exactly so many; as many as are best where empty
 * @param flags that the planner declares for itself
 */
public record StepOptions(
    int globalBatch,
    OptionalInt microBatch,
    String costModel,
    Optional<String> schedule,
    Optional<ScheduleEntry> given,
    OptionalInt chunks,
    String recompute,
    OptionalInt stages,
    FlagValues flags) {
  /** The cost model that ranks plans where the user names none. */
  public static final String COST_MODEL = "pipewright";

  /** The mode of recomputation where the user names none: of what memory demands. */
  public static final String RECOMPUTE = "auto";

  /** The names of all cost models. */
  public static final List<String> COST_MODELS =
      Arrays.stream(CostModel.values()).map(CostModel::word).toList();

  private static final List<String> MODES =
      List.of(RECOMPUTE, "none", "selective", "stage-input", "full", "except-last");

  private static final List<String> POLICIES =
      Arrays.stream(PipelinePolicy.values()).map(PipelinePolicy::scheduleName).toList();

  /** With all defaults. */
  public static StepOptions of(int globalBatch) {
    return new StepOptions(
        globalBatch,
        OptionalInt.empty(),
        COST_MODEL,
        Optional.empty(),
        Optional.empty(),
        OptionalInt.empty(),
        RECOMPUTE,
        OptionalInt.empty(),
        FlagValues.NONE);
  }

  /** The same for pipelines of exactly {@code count} stages. */
  public StepOptions withStages(int count) {
    return new StepOptions(
        globalBatch,
        microBatch,
        costModel,
        schedule,
        given,
        chunks,
        recompute,
        OptionalInt.of(count),
        flags);
  }

  /** The same with flags of the planner's own. */
  public StepOptions withFlags(FlagValues other) {
    return new StepOptions(
        globalBatch, microBatch, costModel, schedule, given, chunks, recompute, stages, other);
  }

  /** Throws {@link BadInputException} where a number or a word is wrong for every planner. */
  public void check() {
    checkBatch(globalBatch);
    checkMicroBatch();
    checkRecompute(recompute);
    stages.ifPresent(StepOptions::checkStages);
    checkChunks();
  }

  /** Throws where so many samples are no batch, or too many. */
  public static void checkBatch(int globalBatch) {
    if (globalBatch < 1) {
      throw new BadInputException(
          "--global-batch: " + globalBatch + " is no batch; give a whole number >= 1");
    }
    SizeLimits.samples("--global-batch", globalBatch);
  }

  /** Throws where there is no such mode of recomputation. */
  public static String checkRecompute(String mode) {
    if (!MODES.contains(mode)) {
      throw new BadInputException(
          "--recompute: unknown '" + mode + "'; " + Suggestion.of(mode, MODES));
    }
    return mode;
  }

  private static void checkStages(int stages) {
    if (stages < 1) {
      throw new BadInputException(
          "--stages: " + stages + " is no number of stages; give a whole number >= 1");
    }
  }

  /**
   * Throws where no pipeline has so many stages, or where the planner cannot choose their number.
   */
  public static void checkStages(String planner, int stages) {
    checkStages(stages);
    boolean one =
        PlannerCatalog.steps(planner)
            .filter(entry -> entry.shape() == Shape.DATA_PARALLEL)
            .isPresent();
    if (one && stages > 1) {
      throw new BadInputException(
          "--stages: data parallelism has one stage, not %d; leave it out, or take --planner dapple"
              .formatted(stages));
    }
  }

  /**
   * The number of stages, where the user gives one; throws where the model or the cluster has too
   * few layers or devices.
   *
   * @param layers stages into which the model can be cut at most
   */
  public static OptionalInt stages(
      OptionalInt stages, String model, IntSupplier layers, String cluster, int devices) {
    if (stages.isEmpty()) {
      return stages;
    }
    int count = stages.getAsInt();
    int most = layers.getAsInt();
    if (count > most) {
      throw new BadInputException(
          "--stages: %d is more than %s allows, which can be cut into up to %d; give a whole number in 1..%d"
              .formatted(count, model, most, Math.min(most, devices)));
    }
    if (count > devices) {
      throw new BadInputException(
          "--stages: %d is more than the %d device%s of %s; give a whole number in 1..%d"
              .formatted(
                  count, devices, devices == 1 ? "" : "s", cluster, Math.min(most, devices)));
    }
    return stages;
  }

  /** The same for a model on a cluster. */
  public static OptionalInt stages(OptionalInt stages, Costed costed) {
    return stages(
        stages,
        costed.model(),
        () -> costed.workload().chain().mostStages(),
        costed.workload().cluster().name(),
        costed.workload().cluster().size());
  }

  /** The cost model of a name; throws {@link BadInputException} where there is none. */
  public static CostModel costModel(String word) {
    return CostModel.find(word)
        .orElseThrow(() ->
            new BadInputException(
                "--cost-model: unknown '" + word + "'; " + Suggestion.of(word, COST_MODELS)));
  }

  private CostModel checkMicroBatch() {
    int micro = microBatch.orElse(1);
    if (micro < 1) {
      throw new BadInputException(
          "--micro-batch: " + micro + " is no batch; give a whole number >= 1");
    }
    CostModel costs = costModel(costModel);
    boolean truncates = costs == CostModel.DAPPLE_REPO && micro <= globalBatch;
    if (globalBatch % micro != 0 && !truncates) {
      throw new BadInputException(
          "--micro-batch: "
              + micro
              + " does not divide the global batch "
              + globalBatch
              + "; give a divisor, like "
              + nearestDivisor(globalBatch, micro));
    }
    return costs;
  }

  private void checkChunks() {
    if (chunks.isPresent() && chunks.getAsInt() < 1) {
      throw new BadInputException(
          "--chunks: " + chunks.getAsInt() + " is no number of stages; give a whole number >= 1");
    }
  }

  /**
   * What a planner is asked for; throws {@link BadInputException} where options contradict each
   * other or the planner.
   *
   * @param scores whether a plan is given to be scored
   */
  public Request request(String planner, boolean scores) {
    checkBatch(globalBatch);
    CostModel costs = checkMicroBatch();
    if (costs == CostModel.DAPPLE_PUBLISHED && !scores) {
      throw new BadInputException(
          "--cost-model: dapple-published only scores plans; add --evaluate PLAN.json or plan with"
              + " dapple, its correction");
    }
    Optional<StepPlanner> entry = PlannerCatalog.steps(planner);
    Recomputation auto =
        costs == CostModel.PIPEWRIGHT // other cost models score what their papers know
            ? Recomputation.SELECTIVE
            : Recomputation.WHERE_NEEDED;
    return new Request(
            globalBatch,
            microBatch.isEmpty() && costs == CostModel.DAPPLE_REPO ? OptionalInt.of(1) : microBatch,
            policies(planner),
            entry
                .flatMap(StepPlanner::byLayers)
                .map(own -> recomputationByLayers(recompute, own))
                .orElseGet(() -> recomputation(recompute, auto)),
            costs,
            entry.map(StepPlanner::shape).orElse(Shape.ANY))
        .withFlags(flags);
  }

  /**
   * The schedule to plan for, where it is none that every planner knows. Throws {@link
   * BadInputException} where the planner does not plan for it.
   */
  public Optional<Choice> anySchedule(String planner) {
    checkChunks();
    if (schedule.isEmpty() || POLICIES.contains(schedule.get())) {
      if (chunks.isPresent()) {
        throw new BadInputException(
            "--chunks: stages of each rank are a matter of the schedule; add --schedule, like interleaved");
      }
      return Optional.empty();
    }
    String name = schedule.get();
    Choice choice = choice(name);
    boolean plansAny =
        PlannerCatalog.steps(planner).filter(each -> each.schedules() == Schedules.ANY).isPresent();
    if (!plansAny) {
      throw new BadInputException(
          "--schedule: the planner %s plans for %s, not %s; take --planner auto"
              .formatted(planner, String.join(", ", POLICIES), name));
    }
    if (!costModel.equals(CostModel.PIPEWRIGHT.word())) {
      throw new BadInputException(
          "--cost-model: %s knows %s, not %s; take pipewright"
              .formatted(costModel, String.join(", ", POLICIES), name));
    }
    return Optional.of(choice);
  }

  private Choice choice(String name) {
    if (given.isPresent()) {
      return new Choice(given.get(), given.get().chunks());
    }
    List<String> known = Stream.concat(POLICIES.stream(), pipelines()).distinct().toList();
    ScheduleEntry entry =
        ScheduleCatalog.find(name)
            .orElseThrow(() ->
                new BadInputException(
                    "--schedule: unknown '" + name + "'; " + Suggestion.of(name, known)));
    if (!entry.isSynchronousPipeline()) {
      throw new BadInputException(
          "--schedule: %s is no pipeline with flushes, which this planner plans; %s"
              .formatted(name, instead(entry)));
    }
    return new Choice(entry, ScheduleOptions.chunks(entry, chunks));
  }

  private static Stream<String> pipelines() {
    return ScheduleCatalog.entries().stream()
        .filter(ScheduleEntry::isSynchronousPipeline)
        .map(ScheduleEntry::name);
  }

  private static String instead(ScheduleEntry entry) {
    return planner(entry)
        .map("take --planner %s"::formatted)
        .orElse("see it with `pipewright schedule %s`".formatted(entry.name()));
  }

  /** The planner of a schedule that is no pipeline with flushes. */
  public static Optional<String> planner(ScheduleEntry entry) {
    return switch (entry.updates()) {
      case STASHED, DOUBLE_BUFFERED -> Optional.of(entry.name());
      case PERIODIC -> Optional.of(MadPipe.NAME);
      case CYCLIC -> Optional.empty();
      case FLUSH -> entry.replicated() ? Optional.of("data") : Optional.empty();
    };
  }

  private List<PipelinePolicy> policies(String planner) {
    Optional<StepPlanner> entry = PlannerCatalog.steps(planner);
    List<PipelinePolicy> tried =
        entry.map(StepPlanner::policies).orElse(List.of(PipelinePolicy.A, PipelinePolicy.B));
    if (schedule.isEmpty() || anySchedule(planner).isPresent()) { // whose own order of work counts
      return tried;
    }
    String name = schedule.get();
    Optional<PipelinePolicy> named =
        Arrays.stream(PipelinePolicy.values())
            .filter(policy -> policy.scheduleName().equals(name))
            .findFirst();
    boolean own = entry.filter(each -> each.schedules() == Schedules.OWN).isPresent();
    if (own && !tried.containsAll(named.stream().toList())) {
      throw new BadInputException(
          "--schedule: %s contradicts --planner %s; leave out one of them"
              .formatted(name, planner));
    }
    return List.of(named.orElseThrow());
  }

  /**
   * How planners may recompute, by the word of {@code --recompute}.
   *
   * @param auto what is meant by {@value #RECOMPUTE}
   * @throws BadInputException where there is no such word
   */
  public static Recomputation recomputation(String recompute, Recomputation auto) {
    return switch (checkRecompute(recompute)) {
      case "none" -> Recomputation.NEVER;
      case "stage-input", "full" -> Recomputation.ALWAYS;
      case "except-last" -> Recomputation.ALWAYS_EXCEPT_LAST;
      case RECOMPUTE -> auto;
      default -> Recomputation.SELECTIVE;
    };
  }

  /**
   * The same for planners that choose layer by layer.
   *
   * @throws BadInputException where they cannot recompute so
   */
  public static Recomputation recomputationByLayers(String recompute, Recomputation auto) {
    try {
      return recomputation(recompute, auto).ofLayers();
    } catch (BadInputException e) {
      throw e; // a sentence already
    } catch (IllegalArgumentException e) {
      throw new BadInputException(
          "--recompute: " + e.getMessage() + "; take full, or --planner dapple");
    }
  }

  private static int nearestDivisor(int number, int wanted) {
    int best = 1;
    for (int i = 1; i <= number; i++) {
      if (number % i == 0 && Math.abs(i - wanted) < Math.abs(best - wanted)) {
        best = i;
      }
    }
    return best;
  }
}
