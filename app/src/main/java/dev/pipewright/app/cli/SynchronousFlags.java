package dev.pipewright.app.cli;

import dev.pipewright.cost.CostModel;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Suggestion;
import dev.pipewright.formats.problem.Costed;
import dev.pipewright.formats.problem.SizeLimits;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.Request.Recomputation;
import dev.pipewright.planner.Request.Shape;
import dev.pipewright.planner.ScheduledPlanner.Choice;
import dev.pipewright.planner.catalog.PlannerCatalog;
import dev.pipewright.planner.catalog.PlannerEntry;
import dev.pipewright.planner.catalog.PlannerEntry.Schedules;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import dev.pipewright.schedule.catalog.UpdateSemantics;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.IntSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What planners of synchronous training are told. */
final class SynchronousFlags {
  private static final List<String> POLICIES =
      Arrays.stream(PipelinePolicy.values()).map(PipelinePolicy::scheduleName).toList();

  static final List<String> COST_MODELS =
      List.of("pipewright", "dapple", "dapple-published", "dapple-repo");
  private static final List<String> RECOMPUTE =
      List.of("auto", "none", "selective", "stage-input", "full", "except-last");

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
      defaultValue = "pipewright",
      description = "pipewright, dapple, dapple-published, dapple-repo.")
  private String costModel = "pipewright";

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
      defaultValue = "auto",
      description =
          "auto and selective (what memory demands), none, stage-input and full (all layers),"
              + " except-last (all layers, but not of a step's last micro-batch).")
  private String recompute = "auto";

  @Option(
      names = "--evaluate",
      paramLabel = "PLAN.json",
      description = "Score this plan instead of searching.")
  private @Nullable Path evaluate;

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
    if (globalBatch < 1) {
      throw new BadInputException(
          "--global-batch: " + globalBatch + " is no batch; give a whole number >= 1");
    }
    SizeLimits.samples("--global-batch", globalBatch);
    return globalBatch;
  }

  /**
   * How many stages a pipeline has to have; empty where any number will do. Throws {@link
   * BadInputException} where there are no such pipelines.
   */
  OptionalInt stages(Costed costed) {
    return stages(
        costed.model(),
        () -> costed.workload().chain().mostStages(),
        costed.workload().cluster().name(),
        costed.workload().cluster().size());
  }

  /**
   * The same.
   *
   * @param layers stages into which the model can be cut at most
   */
  OptionalInt stages(String model, IntSupplier layers, String cluster, int devices) {
    if (stages == null) {
      return OptionalInt.empty();
    }
    int most = layers.getAsInt();
    if (stages > most) {
      throw new BadInputException(
          "--stages: %d is more than %s allows, which can be cut into up to %d; give a whole number in 1..%d"
              .formatted(stages, model, most, Math.min(most, devices)));
    }
    if (stages > devices) {
      throw new BadInputException(
          "--stages: %d is more than the %d device%s of %s; give a whole number in 1..%d"
              .formatted(
                  stages, devices, devices == 1 ? "" : "s", cluster, Math.min(most, devices)));
    }
    return OptionalInt.of(stages);
  }

  /** Refuses a number of stages that no network allows, or that the planner cannot choose. */
  void checkStages(String planner) {
    if (stages == null) {
      return;
    }
    if (stages < 1) {
      throw new BadInputException(
          "--stages: " + stages + " is no number of stages; give a whole number >= 1");
    }
    if (evaluate != null) {
      throw new BadInputException(
          "--stages: --evaluate scores a plan as it is, and finds none; leave out one of them");
    }
    boolean one =
        PlannerCatalog.find(planner)
            .filter(entry -> entry.shape() == Shape.DATA_PARALLEL)
            .isPresent();
    if (one && stages > 1) {
      throw new BadInputException(
          "--stages: data parallelism has one stage, not %d; leave it out, or take --planner dapple"
              .formatted(stages));
    }
  }

  /** The plan to score instead of searching. */
  Optional<Path> evaluate() {
    return Optional.ofNullable(evaluate);
  }

  /** What a planner is asked for; throws {@link BadInputException} where flags make no sense. */
  Request request(String planner) {
    int samples = globalBatch();
    int micro = microBatch == null ? 1 : microBatch;
    if (micro < 1) {
      throw new BadInputException(
          "--micro-batch: " + micro + " is no batch; give a whole number >= 1");
    }
    CostModel costs =
        CostModel.find(costModel)
            .orElseThrow(() ->
                new BadInputException(
                    "--cost-model: unknown '"
                        + costModel
                        + "'; "
                        + Suggestion.of(costModel, COST_MODELS)));
    boolean truncates = costs == CostModel.DAPPLE_REPO && micro <= samples;
    if (samples % micro != 0 && !truncates) {
      throw new BadInputException(
          "--micro-batch: "
              + micro
              + " does not divide the global batch "
              + samples
              + "; give a divisor, like "
              + nearestDivisor(samples, micro));
    }
    if (costs == CostModel.DAPPLE_PUBLISHED && evaluate == null) {
      throw new BadInputException(
          "--cost-model: dapple-published only scores plans; add --evaluate PLAN.json or plan with"
              + " dapple, its correction");
    }
    return new Request(
        samples,
        microBatch == null && costs != CostModel.DAPPLE_REPO
            ? OptionalInt.empty()
            : OptionalInt.of(micro),
        policies(planner),
        recomputation(costs),
        costs,
        PlannerCatalog.find(planner).map(PlannerEntry::shape).orElse(Shape.ANY));
  }

  /**
   * The schedule to plan for, where it is none that every planner knows. Throws {@link
   * BadInputException} where nothing plans for it.
   */
  Optional<Choice> anySchedule(String planner) {
    if (chunks != null && chunks < 1) {
      throw new BadInputException(
          "--chunks: " + chunks + " is no number of stages; give a whole number >= 1");
    }
    if (schedule == null || POLICIES.contains(schedule)) {
      if (chunks != null) {
        throw new BadInputException(
            "--chunks: stages of each rank are a matter of the schedule; add --schedule, like interleaved");
      }
      return Optional.empty();
    }
    Choice choice = choice(schedule);
    boolean plansAny =
        PlannerCatalog.find(planner).filter(each -> each.schedules() == Schedules.ANY).isPresent();
    if (!plansAny) {
      throw new BadInputException(
          "--schedule: the planner %s plans for %s, not %s; take --planner auto"
              .formatted(planner, String.join(", ", POLICIES), schedule));
    }
    if (!costModel.equals(CostModel.PIPEWRIGHT.word())) {
      throw new BadInputException(
          "--cost-model: %s knows %s, not %s; take pipewright"
              .formatted(costModel, String.join(", ", POLICIES), schedule));
    }
    return Optional.of(choice);
  }

  private Choice choice(String name) {
    if (GivenSchedule.isFile(name)) {
      GivenSchedule given = GivenSchedule.read(name);
      ScheduleEntry entry = ScheduleEntry.given(given.schedule().named(given.name()));
      return new Choice(entry, entry.chunks());
    }
    Optional<ScheduleEntry> found = ScheduleCatalog.find(name);
    List<String> known = Stream.concat(POLICIES.stream(), pipelines()).distinct().toList();
    if (found.isEmpty()) {
      throw new BadInputException(
          "--schedule: unknown '" + name + "'; " + Suggestion.of(name, known));
    }
    ScheduleEntry entry = found.get();
    if (!entry.isSynchronousPipeline()) {
      throw new BadInputException(
          "--schedule: %s is no pipeline with flushes, which this planner plans; %s"
              .formatted(name, instead(entry)));
    }
    OptionalInt wanted = chunks == null ? OptionalInt.empty() : OptionalInt.of(chunks);
    return new Choice(entry, ScheduleNames.find(name).chunks(name, wanted));
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
  private static Optional<String> planner(ScheduleEntry entry) {
    return switch (entry.updates()) {
      case STASHED, DOUBLE_BUFFERED -> Optional.of(entry.name()).filter(PlannerNames.ALL::contains);
      case PERIODIC -> Optional.of("madpipe");
      case CYCLIC -> Optional.empty();
      case FLUSH -> entry.replicated() ? Optional.of("data") : Optional.empty();
    };
  }

  /** The planner that is meant where only its schedule is named. */
  String meant(String planner) {
    return planner.equals("auto") ? ofSchedule().orElse(planner) : planner;
  }

  /** Whether the schedule is the one that a planner without flushes plans for. */
  boolean isScheduleOf(String planner) {
    return ofSchedule().equals(Optional.of(planner));
  }

  /** The planner without flushes that plans for the schedule. */
  private Optional<String> ofSchedule() {
    return Optional.ofNullable(schedule)
        .flatMap(ScheduleCatalog::find)
        .filter(entry -> entry.updates() != UpdateSemantics.FLUSH)
        .flatMap(SynchronousFlags::planner);
  }

  private List<PipelinePolicy> policies(String planner) {
    Optional<PlannerEntry> entry = PlannerCatalog.find(planner);
    List<PipelinePolicy> tried =
        entry.map(PlannerEntry::policies).orElse(List.of(PipelinePolicy.A, PipelinePolicy.B));
    String name = schedule;
    if (name == null || anySchedule(planner).isPresent()) { // whose own order of work counts
      return tried;
    }
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
   * For planners that are told which layers may run again.
   *
   * @param auto what is meant where nothing is said
   */
  dev.pipewright.planner.recompute.Recomputation layersAgain(
      dev.pipewright.planner.recompute.Recomputation auto) {
    return switch (choice("--recompute", recompute, RECOMPUTE)) {
      case "stage-input", "full" -> dev.pipewright.planner.recompute.Recomputation.ALWAYS;
      case "selective" -> dev.pipewright.planner.recompute.Recomputation.SELECTIVE;
      case "none" -> dev.pipewright.planner.recompute.Recomputation.NEVER;
      case "except-last" ->
          throw new BadInputException(
              "--recompute: except-last is for synchronous data and pipeline parallelism, whose steps have a last micro-batch; take full, or --planner dapple");
      default -> auto;
    };
  }

  /** Other cost models score what their papers know. */
  private Recomputation recomputation(CostModel cost) {
    return switch (choice("--recompute", recompute, RECOMPUTE)) {
      case "none" -> Recomputation.NEVER;
      case "stage-input", "full" -> Recomputation.ALWAYS;
      case "except-last" -> Recomputation.ALWAYS_EXCEPT_LAST;
      case "auto" ->
          cost == CostModel.PIPEWRIGHT ? Recomputation.SELECTIVE : Recomputation.WHERE_NEEDED;
      default -> Recomputation.SELECTIVE;
    };
  }

  private static String choice(String option, String word, List<String> words) {
    if (!words.contains(word)) {
      throw new BadInputException(
          option + ": unknown '" + word + "'; " + Suggestion.of(word, words));
    }
    return word;
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
