package dev.pipewright.app.cli;

import dev.pipewright.app.report.MemoryPlanText;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.StageCost;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.cost.Workload;
import dev.pipewright.formats.BadInputException;
import dev.pipewright.formats.JsonText;
import dev.pipewright.formats.McapTable;
import dev.pipewright.formats.OutputFolder;
import dev.pipewright.plan.Plan;
import dev.pipewright.planner.Request;
import dev.pipewright.planner.memory.Capture;
import dev.pipewright.planner.memory.HybridPlan;
import dev.pipewright.planner.memory.HybridShape;
import dev.pipewright.planner.memory.LayerPeaks;
import dev.pipewright.planner.memory.Mcap;
import dev.pipewright.planner.memory.McapBruteForce;
import dev.pipewright.planner.memory.McapExact;
import dev.pipewright.planner.memory.MemoryPlanning;
import dev.pipewright.planner.memory.TieBreak;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.sim.SimulatedOracle;
import dev.pipewright.solver.bayes.McapBayesian;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** What a memory planner answers, as text and as JSON. */
final class MemoryAnswer implements PlannerAnswer {
  /** Their names on the command line. */
  static final List<String> PLANNERS = List.of("mcap", "mcap-bf", "mcap-bo", "capture");

  private static final int POINTS = 12; // plans of a front
  private static final long BUDGET = 1_000_000; // partial pipelines of each search for speed

  private final MemoryPlanning planning;
  private final Optional<Double> simulated; // seconds of a step
  private final Optional<TrainingFigures> figures;
  private final String title;
  private final Map<String, Object> json;
  private final boolean stopped; // before the search was complete, where it is not

  /**
   * What is asked for.
   *
   * @param planner one of {@link #PLANNERS}
   * @param stop asked often; from the first yes on the search returns the best that it has
   */
  record Asked(
      String planner,
      int globalBatch,
      OptionalInt microBatch,
      List<PipelinePolicy> policies,
      Recomputation recomputation,
      OptionalInt stages,
      BooleanSupplier stop) {
    /** Nothing runs again, any number of stages. */
    Asked(
        String planner,
        int globalBatch,
        OptionalInt microBatch,
        List<PipelinePolicy> policies,
        BooleanSupplier stop) {
      this(
          planner,
          globalBatch,
          microBatch,
          policies,
          Recomputation.NEVER,
          OptionalInt.empty(),
          stop);
    }
  }

  /** Plans for a model, or for a table of measured peaks, which needs no batch. */
  static MemoryAnswer of(
      String planner,
      String model,
      ModelArgument arguments,
      SynchronousFlags flags,
      SearchDeadline patience) {
    Path file = Values.file("the model", model);
    if (McapTable.isTable(file)) {
      Cluster cluster = arguments.cluster(Optional.empty());
      Limits.devices(cluster);
      MemoryAnswer answer =
          measured(
              file,
              cluster,
              new Asked(
                  planner,
                  1,
                  OptionalInt.empty(),
                  List.of(PipelinePolicy.A),
                  Recomputation.NEVER,
                  flags.stages(
                      model, () -> McapTable.read(file).layers(), cluster.name(), cluster.size()),
                  patience));
      answer.json.put("cluster", String.valueOf(arguments.cluster)); // there is one
      if (arguments.memory != null) {
        answer.json.put("device_memory_bytes", ModelArgument.bytes(arguments.memory).value());
      }
      cluster.reserve().ifPresent(share -> answer.json.put("memory_reserve", share));
      return answer;
    }
    Request request = flags.request(planner);
    ModelArgument.Costed costed =
        arguments.costed(model, Optional.empty(), OptionalInt.empty(), request.globalBatch());
    Limits.devices(costed.workload().cluster());
    Limits.searched(planner, costed.costs().size());
    MemoryAnswer answer =
        of(
            costed,
            new Asked(
                planner,
                request.globalBatch(),
                request.microBatch(),
                request.policies(),
                flags.layersAgain(Recomputation.NEVER),
                flags.stages(costed),
                patience));
    if (arguments.profileBatch != null) {
      answer.json.put("profile_batch", arguments.profileBatch);
    }
    return answer;
  }

  private MemoryAnswer(
      MemoryPlanning planning,
      Optional<Double> simulated,
      Optional<TrainingFigures> figures,
      String title,
      Map<String, Object> json,
      boolean stopped) {
    this.stopped = stopped;
    this.figures = figures;
    this.planning = planning;
    this.simulated = simulated;
    this.title = title;
    this.json = json;
  }

  /** Plans by the peaks that the model's shapes and sizes give. */
  static MemoryAnswer of(ModelArgument.Costed costed, Asked asked) {
    StageCosts costs = costed.costs();
    long start = System.nanoTime();
    MemoryPlanning planning = worded(asked.planner, () -> planned(costs, asked));
    double seconds = (System.nanoTime() - start) / 1e9;
    Optional<Double> simulated = planning.best().map(best -> simulated(best, costs));
    Map<String, Object> json =
        MemoryAnswerJson.object(planning, seconds, simulated, costs.workload().cluster().size());
    MemoryAnswerJson.putContext(json, costed, asked.globalBatch);
    String title = costed.model() + " on " + costs.workload().cluster().name();
    Optional<TrainingFigures> figures =
        planning
            .best()
            .map(best -> figures(costed.workload(), best, simulated.orElse(best.stepSeconds())));
    return new MemoryAnswer(planning, simulated, figures, title, json, asked.stop.getAsBoolean());
  }

  /** Of a plan whose step takes so many seconds. */
  static TrainingFigures figures(Workload workload, HybridPlan plan, double seconds) {
    List<Integer> perRank =
        plan.stages().stream()
            .map(stage -> StageCosts.slice(plan.microBatch(), stage.degrees().data()))
            .toList();
    int devices = plan.stages().stream().mapToInt(stage -> stage.devices().size()).sum();
    long batch = (long) plan.microBatches() * plan.microBatch();
    return TrainingFigures.of(workload, batch, perRank, seconds, devices);
  }

  @Override
  public Optional<TrainingFigures> figures() {
    return figures;
  }

  /** Seconds of a step in the simulator. */
  private static double simulated(HybridPlan best, StageCosts costs) {
    Optional<Plan> plain = best.plan();
    if (plain.isPresent()) {
      return new SimulatedOracle(new PipelineOracle(costs, new PathFormula()))
          .assess(plain.get())
          .stepSeconds();
    }
    List<StageCost> stages = best.stages().stream().map(HybridPlan.Stage::cost).toList();
    Assessment priced = new Assessment("pipewright", best.stepSeconds(), stages);
    return SimulatedOracle.run(HybridShape.of(best).plan(), priced).makespan();
  }

  /** Plans by measured peaks ({@link McapTable}); all planners but {@code capture}. */
  static MemoryAnswer measured(Path table, Cluster cluster, Asked asked) {
    if (asked.planner.equals("capture")) {
      throw new BadInputException(
          table
              + ": peaks of single devices say nothing of shared stages; plan with mcap, or capture"
              + " without the table");
    }
    LayerPeaks peaks = McapTable.read(table);
    long start = System.nanoTime();
    MemoryPlanning planning =
        worded(
            asked.planner,
            () ->
                Mcap.measured(peaks, cluster, asked.stages.orElse(cluster.size()), cutter(asked)));
    double seconds = (System.nanoTime() - start) / 1e9;
    Map<String, Object> json =
        MemoryAnswerJson.object(planning, seconds, Optional.empty(), cluster.size());
    json.put("model", table.toString());
    json.put("profile", table.toString());
    return new MemoryAnswer(
        planning,
        Optional.empty(),
        Optional.empty(),
        table.getFileName() + " on " + cluster.name(),
        json,
        asked.stop.getAsBoolean());
  }

  private static MemoryPlanning planned(StageCosts costs, Asked asked) {
    boolean capture = asked.planner.equals("capture");
    int machine = costs.workload().cluster().groups().get(0).get(0);
    Capture.Request request =
        new Capture.Request(
            asked.globalBatch,
            asked.microBatch,
            asked.policies,
            capture ? machine : 1,
            POINTS,
            BUDGET,
            asked.recomputation,
            asked.stages);
    return capture
        ? Capture.plan(costs, request, asked.stop)
        : Mcap.plan(costs, request, cutter(asked), asked.stop);
  }

  private static Mcap.Cutter cutter(Asked asked) {
    return switch (asked.planner) {
      case "mcap-bf" ->
          (peaks, layers, stages) -> McapBruteForce.of(peaks, layers, stages, asked.stop);
      case "mcap-bo" ->
          (peaks, layers, stages) ->
              McapBayesian.of(peaks, layers, stages, McapBayesian.Settings.USUAL, asked.stop);
      default ->
          (peaks, layers, stages) ->
              McapExact.of(peaks, layers, stages, TieBreak.NEXT_PEAKS, asked.stop);
    };
  }

  /** What a planner refuses, as a sentence for its user. */
  private static MemoryPlanning worded(String planner, Supplier<MemoryPlanning> planned) {
    try {
      return planned.get();
    } catch (IllegalArgumentException e) {
      throw new BadInputException("--planner " + planner + ": " + e.getMessage());
    }
  }

  /** What {@code plan --evaluate} understands; empty where tensors are divided. */
  Optional<Plan> plan() {
    return planning
        .best()
        .filter(best -> !Double.isNaN(best.stepSeconds()))
        .flatMap(best -> best.plan());
  }

  MemoryPlanning planning() {
    return planning;
  }

  @Override
  public String json() {
    return JsonText.of(json);
  }

  @Override
  public void write(OutputFolder out) {
    Map<String, Object> named = new LinkedHashMap<>(json); // as a file elsewhere names the same
    named.computeIfPresent("model", (key, name) -> ModelArgument.anywhere(name.toString()));
    named.computeIfPresent("cluster", (key, name) -> ClusterNames.anywhere(name.toString()));
    out.write("plan.json", JsonText.of(named));
  }

  @Override
  public void print(PrintWriter out) {
    out.print(
        MemoryPlanText.of(title, planning, simulated, Terminal.columns(), Terminal.colours()));
  }

  @Override
  public List<String> remarks() {
    return stopped && !planning.exhaustive()
        ? List.of("the search was ended early; this is the best so far")
        : List.of();
  }

  @Override
  public Optional<String> nothing() {
    return planning.best().isPresent() ? Optional.empty() : Optional.of(planning.remedy());
  }
}
