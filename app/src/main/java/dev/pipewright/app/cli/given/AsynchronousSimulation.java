package dev.pipewright.app.cli.given;

import dev.pipewright.app.cli.input.SimulationOptions;
import dev.pipewright.app.cli.plan.SteadyRun;
import dev.pipewright.app.cli.terminal.Terminal;
import dev.pipewright.app.report.plan.AsynchronousSheet;
import dev.pipewright.app.report.plan.PlanSheet;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.AsynchronousCosts;
import dev.pipewright.cost.Misfit;
import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.SteadyState;
import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.sim.Conditions;
import dev.pipewright.trace.Timeline;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** A plan that never flushes, simulated until it runs evenly. */
public final class AsynchronousSimulation implements SimulationResult {
  private final GivenAsynchronous loaded;
  private final SteadyState steady;
  private final List<StageMemory> limits;
  private final Supplier<Timeline> timeline;

  private AsynchronousSimulation(
      GivenAsynchronous loaded,
      SteadyState steady,
      List<StageMemory> limits,
      Supplier<Timeline> timeline) {
    this.loaded = loaded;
    this.steady = steady;
    this.limits = limits;
    this.timeline = timeline;
  }

  static AsynchronousSimulation of(GivenAsynchronous loaded, SimulationOptions options) {
    AsynchronousPlan plan = loaded.file().plan();
    if (options.jitter() != null) {
      throw new BadInputException(
          "--jitter: and --stragglers are for training steps, and %s never flushes; leave them out"
              .formatted(loaded.path()));
    }
    Cluster cluster = loaded.costed().workload().cluster();
    double[] slowness = options.slowness(SteadyState.devices(plan, cluster).length);
    Conditions conditions =
        options.conditions(SteadyRun.usual(plan, cluster), SteadyRun.wires(plan, cluster));
    StageCosts costs = loaded.costed().costs();
    return new AsynchronousSimulation(
        loaded,
        SteadyState.of(plan, costs, conditions, slowness),
        new AsynchronousCosts(costs, plan).memory(),
        () -> SteadyState.timeline(plan, costs, conditions, slowness));
  }

  /** Empty where a mini-batch stands for itself, as for levels without a batch. */
  @Override
  public Optional<TrainingFigures> figures() {
    AsynchronousPlan plan = loaded.file().plan();
    boolean counted = loaded.file().madeFor().cluster().isPresent() || plan.microBatch() > 1;
    return counted
        ? Optional.of(
            TrainingFigures.of(
                loaded.costed().workload(),
                plan.globalBatch(),
                List.of(plan.microBatch()),
                steady.seconds(),
                plan.stages().stream().mapToInt(StagePlan::replicas).sum()))
        : Optional.empty();
  }

  @Override
  public Optional<String> doesNotFit() {
    return loaded.misfits().stream().findFirst().map(Misfit::toString);
  }

  @Override
  public String text() {
    return sheet().text(Terminal.columns(), Terminal.colours());
  }

  @Override
  public void write(OutputFolder folder) {
    AsynchronousPlan plan = loaded.file().plan();
    SteadyRun.write(folder, sheet(), plan, timeline.get(), steady.seconds(), steady.idleShare());
  }

  private PlanSheet sheet() {
    AsynchronousPlan plan = loaded.file().plan();
    List<AsynchronousSheet.Simulated> rows = new ArrayList<>();
    int rank = 0;
    for (int s = 0; s < plan.stages().size(); s++) {
      StagePlan stage = plan.stages().get(s);
      int ranks = plan.replicas() > 1 ? 1 : stage.replicas();
      double peak = 0;
      for (int i = 0; i < ranks; i++) {
        peak = Math.max(peak, steady.memory().get(rank++).peak().bytes());
      }
      rows.add(
          new AsynchronousSheet.Simulated(
              stage, plan.versions(s), peak, (double) limits.get(s).capacity().value()));
    }
    return AsynchronousSheet.of(
        new AsynchronousSheet.Found(
            loaded.costed().model() + " on " + loaded.costed().workload().cluster().name(),
            plan.rule(),
            steady.seconds(),
            loaded.file().objective(),
            steady.rounds(),
            steady.idleShare(),
            SteadyRun.leftOut(plan.rule())),
        rows);
  }

  @Override
  public String json() {
    AsynchronousPlan plan = loaded.file().plan();
    Map<String, Object> object =
        SimulationJson.head(
            loaded.costed(),
            plan.rule().schedule(),
            "minibatch_s",
            steady.seconds(),
            loaded.file().objective());
    Map<String, Object> simulated = new LinkedHashMap<>();
    simulated.put("minibatch_s", steady.seconds());
    simulated.put("rounds", steady.rounds());
    long batches = plan.rule() == AsynchronousPlan.Rule.PIPEDREAM ? plan.round() : 1;
    simulated.put("period_s", steady.seconds() * batches); // replicas have all had their turn
    simulated.put("period_minibatches", batches);
    simulated.put("idle_share", steady.idleShare());
    simulated.put("steady_idle_share", steady.idleShare());
    simulated.put(
        "peak_bytes", SteadyRun.peakBytes(plan, steady, loaded.costed().workload().cluster()));
    object.put("simulated", simulated);
    return JsonText.of(object);
  }
}
