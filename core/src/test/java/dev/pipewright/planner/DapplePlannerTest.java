package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.Samples;
import dev.pipewright.cost.SimulatedOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Request.Shape;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.check.Validator;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT) // of all classes here it takes longest
class DapplePlannerTest {
  private static final String SEEDED = "seed {currentRepetition}";

  /** What exhaustive search finds for {@link Seeded} cases, which several tests look at. */
  private static final Map<Seeded, Exhaustive.Answer> TRUTHS = new ConcurrentHashMap<>();

  /** A case of {@link CostModel#PIPEWRIGHT} without branches. */
  private record Seeded(long seed, Recomputation recomputation) {
    Case made() {
      return Case.of(new SplittableRandom(seed), CostModel.PIPEWRIGHT, false, recomputation);
    }

    Exhaustive.Answer truth() {
      return TRUTHS.computeIfAbsent(this, key -> key.made().truth());
    }
  }

  /** A network on a cluster, and what is asked for. */
  private record Case(StageCosts costs, Request request) {
    static Case of(long seed, CostModel model, boolean branching) {
      return of(new SplittableRandom(seed), model, branching, Recomputation.WHERE_NEEDED);
    }

    static Case of(
        SplittableRandom random, CostModel model, boolean branching, Recomputation recomputation) {
      int globalBatch = random.nextInt(1, 13);
      boolean given = model == CostModel.DAPPLE_REPO || random.nextInt(4) == 0;
      LayerGraph graph =
          branching ? Samples.branching(random) : Samples.chain(random.nextInt(1, 8));
      StageCosts costs = Samples.costs(random, graph, globalBatch);
      OptionalInt microBatch =
          given ? OptionalInt.of(microBatch(random, globalBatch, model)) : OptionalInt.empty();
      List<PipelinePolicy> policies = List.of(PipelinePolicy.A, PipelinePolicy.B);
      return new Case(costs, new Request(globalBatch, microBatch, policies, recomputation, model));
    }

    /** One that divides, but where the cost model truncates. */
    private static int microBatch(SplittableRandom random, int globalBatch, CostModel model) {
      return model == CostModel.DAPPLE_REPO && random.nextBoolean()
          ? random.nextInt(1, globalBatch + 1)
          : divisor(random, globalBatch);
    }

    private static int divisor(SplittableRandom random, int of) {
      int[] divisors = IntStream.rangeClosed(1, of).filter(i -> of % i == 0).toArray();
      return divisors[random.nextInt(divisors.length)];
    }

    /** The same for exactly so many stages. */
    Case withStages(int stages) {
      return new Case(costs, request.withStages(OptionalInt.of(stages)));
    }

    /** The same for one pipeline without data parallelism. */
    Case asOnePipeline() {
      Request only =
          new Request(
              request.globalBatch(),
              request.microBatch(),
              request.policies(),
              request.recomputation(),
              request.costModel(),
              Shape.PIPELINE);
      return new Case(costs, only);
    }

    Exhaustive.Answer truth() {
      return Exhaustive.best(costs, request);
    }

    int mostStages() {
      return Math.min(costs.workload().chain().mostStages(), costs.workload().cluster().size());
    }

    /** As ranked: the oracle that decides is the one that estimates. */
    Planning plan() {
      return DapplePlanner.plan(
          costs, request, request.costModel().oracle(costs, request.globalBatch()));
    }

    Planning planBySimulation() {
      return DapplePlanner.plan(costs, request, simulator());
    }

    Oracle simulator() {
      return new SimulatedOracle(request.costModel().oracle(costs, request.globalBatch()));
    }
  }

  @RepeatedTest(value = 200, name = SEEDED)
  void pipewrightIsAsGoodAsExhaustiveSearch(RepetitionInfo seed) {
    compare(new Seeded(seed.getCurrentRepetition(), Recomputation.WHERE_NEEDED));
  }

  @RepeatedTest(value = 200, name = SEEDED)
  void dappleIsAsGoodAsExhaustiveSearch(RepetitionInfo seed) {
    compare(Case.of(1000 + seed.getCurrentRepetition(), CostModel.DAPPLE, false));
  }

  @RepeatedTest(value = 200, name = SEEDED)
  void dappleRepoIsAsGoodAsExhaustiveSearch(RepetitionInfo seed) {
    compare(Case.of(2000 + seed.getCurrentRepetition(), CostModel.DAPPLE_REPO, false));
  }

  @RepeatedTest(value = 150, name = SEEDED)
  void branchesArePlannedAsWellAsByExhaustiveSearch(RepetitionInfo seed) {
    int number = seed.getCurrentRepetition();
    CostModel[] models = {CostModel.PIPEWRIGHT, CostModel.DAPPLE, CostModel.DAPPLE_REPO};
    compare(Case.of(4000 + number, models[number % models.length], true));
  }

  @RepeatedTest(value = 100, name = SEEDED)
  void recomputationIsNeverOrAlwaysUsedAsAsked(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(5000 + seed.getCurrentRepetition());
    Recomputation mode = random.nextBoolean() ? Recomputation.NEVER : Recomputation.ALWAYS;
    Case one = Case.of(random, CostModel.PIPEWRIGHT, false, mode);
    Planning planning = compare(one);
    Recompute only = mode == Recomputation.NEVER ? Recompute.NONE : Recompute.STAGE_INPUT;
    for (Candidate candidate : planning.candidates()) {
      for (StagePlan stage : candidate.plan().stages()) {
        assertEquals(only, stage.recompute());
      }
    }
  }

  /** Every set of layers that may run again, in every stage of every plan. */
  @RepeatedTest(value = 300, name = SEEDED)
  void selectiveRecomputationIsAsGoodAsExhaustiveSearch(RepetitionInfo seed) {
    int number = 6000 + seed.getCurrentRepetition();
    if (number % 2 == 0) {
      compare(new Seeded(number, Recomputation.SELECTIVE));
    } else {
      SplittableRandom random = new SplittableRandom(number);
      compare(Case.of(random, CostModel.DAPPLE, false, Recomputation.SELECTIVE));
    }
  }

  @RepeatedTest(value = 300, name = SEEDED)
  void exactlySoManyStagesAreAsGoodAsExhaustiveSearch(RepetitionInfo seed) {
    int number = seed.getCurrentRepetition();
    CostModel[] models = {CostModel.PIPEWRIGHT, CostModel.DAPPLE, CostModel.DAPPLE_REPO};
    Case any = Case.of(7000 + number, models[number % models.length], number % 4 == 0);
    for (int stages = 1; stages <= any.mostStages(); stages++) {
      for (Candidate candidate : compare(any.withStages(stages)).candidates()) {
        assertEquals(stages, candidate.plan().stages().size());
      }
    }
  }

  @RepeatedTest(value = 100, name = SEEDED)
  void aPipelineAloneIsNeverReplicatedAndAsGoodAsExhaustiveSearch(RepetitionInfo seed) {
    int number = seed.getCurrentRepetition();
    CostModel[] models = {CostModel.PIPEWRIGHT, CostModel.DAPPLE};
    Case one = Case.of(8000 + number, models[number % models.length], false).asOnePipeline();
    for (Candidate candidate : compare(one).candidates()) {
      assertEquals(1, candidate.plan().replicas());
      for (StagePlan stage : candidate.plan().stages()) {
        assertEquals(1, stage.replicas());
      }
    }
  }

  @Test
  void someNetworksFitOnlyWithSelectiveRecomputation() {
    int only = 0;
    int faster = 0;
    for (int seed = 1; seed <= 300; seed++) {
      double best = new Seeded(6000 + seed, Recomputation.SELECTIVE).truth().seconds();
      double whole = new Seeded(6000 + seed, Recomputation.WHERE_NEEDED).truth().seconds();
      only += best < Double.POSITIVE_INFINITY && whole == Double.POSITIVE_INFINITY ? 1 : 0;
      faster += best < whole * (1 - 1e-9) ? 1 : 0;
    }
    assertTrue(only >= 5 && faster >= 30, "only " + only + ", faster " + faster);
  }

  /** Asserts that the planner's best estimate is the best of all plans', and returns its answer. */
  private static Planning compare(Case one) {
    return compare(one, one.truth());
  }

  private static void compare(Seeded seeded) {
    compare(seeded.made(), seeded.truth());
  }

  private static Planning compare(Case one, Exhaustive.Answer truth) {
    Planning planning = one.plan();
    checkCandidates(one, planning);
    if (truth.plan().isEmpty()) {
      return planning; // whatever was found holds fewer micro-batches than its policy wants
    }
    double best =
        planning.candidates().stream()
            .filter(candidate -> !candidate.plan().overlapGradients())
            .mapToDouble(candidate -> candidate.estimate().stepSeconds())
            .min()
            .orElse(Double.POSITIVE_INFINITY);
    assertEquals(
        truth.seconds(), best, 1e-9 * truth.seconds(), () -> "missed " + truth.plan().get());
    assertTrue(planning.search().exhaustive());
    assertEquals("every placement", planning.search().space());
    assertTrue(
        planning.lowerBound().value() <= truth.seconds() * (1 + 1e-9),
        () -> "bound " + planning.lowerBound().value() + " > " + truth.seconds());
    return planning;
  }

  private static void checkCandidates(Case one, Planning planning) {
    boolean repo = one.request().costModel() == CostModel.DAPPLE_REPO;
    for (Candidate candidate : planning.candidates()) {
      PipelinePlan plan = candidate.plan();
      assertEquals(List.of(), Validator.check(plan.schedule()));
      assertEquals(one.costs().size(), plan.layers());
      CostModel model = one.request().costModel();
      assertTrue(model.isFor(one.request().globalBatch(), plan), plan::toString);
      Assessment again = model.oracle(one.costs(), one.request().globalBatch()).assess(plan);
      assertEquals(again.stepSeconds(), candidate.estimate().stepSeconds());
      assertTrue(repo || again.fits(), () -> "does not fit: " + plan);
    }
    for (int i = 1; i < planning.candidates().size(); i++) {
      boolean decided = planning.candidates().get(i).simulated().isPresent();
      if (decided || planning.candidates().get(i - 1).simulated().isEmpty()) {
        assertTrue(
            planning.candidates().get(i - 1).seconds() <= planning.candidates().get(i).seconds());
      }
    }
  }

  @RepeatedTest(value = 100, name = SEEDED)
  void theSimulatorsChoiceIsNoSlowerThanTheBestEstimateAndFits(RepetitionInfo seed) {
    boolean odd = seed.getCurrentRepetition() % 2 == 1;
    CostModel model = odd ? CostModel.PIPEWRIGHT : CostModel.DAPPLE;
    Case one = Case.of(6000 + seed.getCurrentRepetition(), model, false);
    Planning planning = one.planBySimulation();
    checkCandidates(one, planning);
    for (Candidate ranked : one.plan().best().stream().toList()) {
      double simulated = one.simulator().assess(ranked.plan()).stepSeconds();
      double chosen = planning.best().orElseThrow().seconds();
      assertTrue(chosen <= simulated * (1 + 1e-12), () -> chosen + " > " + simulated);
    }
  }

  @Test
  void theRandomCasesExerciseMemoryPlacementAndRecomputation() {
    int infeasible = 0;
    int recomputing = 0;
    int staged = 0;
    int replicated = 0;
    for (int seed = 1; seed <= 200; seed++) {
      var truth = new Seeded(seed, Recomputation.WHERE_NEEDED).truth().plan();
      if (truth.isEmpty()) {
        infeasible++;
        continue;
      }
      List<StagePlan> stages = truth.get().stages();
      recomputing += stages.stream().anyMatch(s -> s.recompute() != Recompute.NONE) ? 1 : 0;
      staged += stages.size() > 1 ? 1 : 0;
      replicated += stages.stream().anyMatch(stage -> stage.replicas() > 1) ? 1 : 0;
    }
    String what =
        "infeasible=%d, recomputing=%d, pipelines=%d, replicated=%d"
            .formatted(infeasible, recomputing, staged, replicated);
    assertTrue(infeasible >= 10 && infeasible <= 80, what);
    assertTrue(recomputing >= 8 && staged >= 60 && replicated >= 40, what);
  }

  @RepeatedTest(value = 20, name = SEEDED)
  void theSameRequestGivesTheSamePlan(RepetitionInfo seed) {
    for (CostModel model : List.of(CostModel.PIPEWRIGHT, CostModel.DAPPLE, CostModel.DAPPLE_REPO)) {
      Planning once = Case.of(seed.getCurrentRepetition(), model, false).plan();
      Planning twice = Case.of(seed.getCurrentRepetition(), model, false).plan();
      assertEquals(once.toString(), twice.toString());
    }
  }

  @Test
  void thePublishedFormulaOnlyScoresPlans() {
    Case one = Case.of(1, CostModel.DAPPLE_PUBLISHED, false);
    assertThrows(IllegalArgumentException.class, one::plan);
  }

  @Test
  void memoryThatIsTooSmallForAnyPlanGivesNone() {
    int none = 0;
    for (int seed = 1; seed <= 100; seed++) {
      Planning planning = Case.of(seed, CostModel.PIPEWRIGHT, false).plan();
      if (planning.best().isEmpty()) {
        none++;
        assertFalse(planning.runnerUp().isPresent());
        assertEquals("memory", planning.binding());
      }
    }
    assertTrue(none > 0);
  }
}
