package dev.pipewright.app.cli.plan;

import dev.pipewright.app.report.plan.PlanSheet;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.app.report.timeline.Shown;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.SteadyState;
import dev.pipewright.formats.SteadyFigures;
import dev.pipewright.formats.file.OutputFolder;
import dev.pipewright.formats.problem.SizeLimits;
import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.plan.AsynchronousPlan.Rule;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.sim.Conditions;
import dev.pipewright.sim.Conditions.Transfers;
import dev.pipewright.sim.Wires;
import dev.pipewright.trace.Timeline;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Runs plans without flushes in the simulator, under its usual conditions, and says why that takes
 * another time than the planner's formula gives.
 */
public final class SteadyRun {
  private static final double SAME = 1e-3; // relative: the figures agree to what is printed

  private SteadyRun() {}

  /**
   * The figures of a plan; empty where a run until the steady state would take too long.
   *
   * @param objective seconds that the planner's formula gives
   */
  static Optional<SteadyFigures> of(AsynchronousPlan plan, StageCosts costs, double objective) {
    if (tooLong(plan)) {
      return Optional.empty();
    }
    SteadyState state = state(plan, costs);
    Cluster cluster = costs.workload().cluster();
    return Optional.of(
        new SteadyFigures(
            state.seconds(),
            state.rounds(),
            state.idleShare(),
            peakBytes(plan, state, cluster),
            difference(plan, costs, objective, state.seconds())));
  }

  /** What {@code plan --out} writes. */
  static List<String> files(Optional<SteadyFigures> steady) {
    List<String> files = new ArrayList<>(List.of("plan.json"));
    files.addAll(steady.isPresent() ? PlanPictures.FILES : List.of());
    return files;
  }

  /** Pictures of the plan under the usual conditions. */
  public static void write(
      OutputFolder folder,
      PlanSheet sheet,
      AsynchronousPlan plan,
      StageCosts costs,
      SteadyFigures figures) {
    Cluster cluster = costs.workload().cluster();
    Timeline timeline = SteadyState.timeline(plan, costs, usual(plan, cluster));
    write(folder, sheet, plan, timeline, figures.seconds(), figures.idleShare());
  }

  /**
   * Pictures of a simulated plan.
   *
   * @param seconds of a mini-batch, or of an update
   */
  public static void write(
      OutputFolder folder,
      PlanSheet sheet,
      AsynchronousPlan plan,
      Timeline timeline,
      double seconds,
      double idleShare) {
    int round = Math.toIntExact(plan.round());
    double updates = plan.rule() == Rule.PIPEDREAM ? round : 1;
    PlanPictures.write(
        folder,
        sheet,
        timeline,
        "The pipeline fills, runs and drains over %s of %s; a longer run has the same rhythm."
            .formatted(
                Words.count(SteadyState.shown(plan), "round"), Words.count(round, "micro-batch")),
        new Shown.Period(seconds * updates, round, idleShare));
  }

  private static SteadyState state(AsynchronousPlan plan, StageCosts costs) {
    Cluster cluster = costs.workload().cluster();
    return SteadyState.of(plan, costs, usual(plan, cluster));
  }

  /** What leaves a machine at once shares its port out, what enters one its port in. */
  public static Conditions usual(AsynchronousPlan plan, Cluster cluster) {
    return Conditions.of(Transfers.DELAYED).withWires(wires(plan, cluster));
  }

  /** Each machine has a port out and one in; inside a machine each device has a way out. */
  public static Wires wires(AsynchronousPlan plan, Cluster cluster) {
    int[] devices = SteadyState.devices(plan, cluster);
    int machines = cluster.machines();
    double[] bandwidth = new double[2 * machines + devices.length];
    Arrays.fill(bandwidth, 1);
    return Wires.of(
        bandwidth,
        0,
        (from, to) -> {
          int out = cluster.machine(devices[from]);
          int in = cluster.machine(devices[to]);
          return out == in ? new int[] {2 * machines + from} : new int[] {out, machines + in};
        });
  }

  /** Whether devices of all stages have had equally many turns only after too many passes. */
  public static boolean tooLong(AsynchronousPlan plan) {
    long each = (long) plan.stages().size() * SteadyState.rounds(plan);
    return plan.round() > SizeLimits.PASSES / each;
  }

  /** Of each device of the cluster. */
  public static List<Long> peakBytes(AsynchronousPlan plan, SteadyState steady, Cluster cluster) {
    Long[] peaks = new Long[cluster.size()];
    Arrays.fill(peaks, 0L);
    int rank = 0;
    for (StagePlan stage : plan.stages()) {
      for (int i = 0; i < stage.replicas(); i++) {
        boolean copies = plan.replicas() > 1; // all do the same
        int device = copies ? stage.devices().get(i) : steady.ranks().get(rank + i);
        peaks[device] = Math.round(steady.memory().get(copies ? rank : rank + i).peak().bytes());
      }
      rank += plan.replicas() > 1 ? 1 : stage.replicas();
    }
    return List.of(peaks);
  }

  private static String difference(
      AsynchronousPlan plan, StageCosts costs, double objective, double seconds) {
    if (Math.abs(seconds - objective) <= SAME * objective) {
      return "none";
    }
    String all =
        "the simulation takes %s %s: "
            .formatted(
                Units.percent(Math.abs(seconds / objective - 1)),
                seconds > objective ? "longer" : "less");
    boolean counted = plan.rule() == Rule.TWO_BUFFERS; // its formula knows recomputation
    AsynchronousPlan kept = counted ? plan : keeping(plan);
    if (kept.equals(plan)) {
      return all + leftOut(plan.rule());
    }
    double again = seconds - state(kept, costs).seconds();
    return all
        + "stages that recompute, which the formula does not know of, add %s; beyond that %s"
            .formatted(Units.seconds(Math.max(0, again)), leftOut(plan.rule()));
  }

  private static AsynchronousPlan keeping(AsynchronousPlan plan) {
    List<StagePlan> stages =
        plan.stages().stream()
            .map(stage ->
                new StagePlan(
                    stage.firstLayer(),
                    stage.lastLayer(),
                    stage.devices(),
                    Recompute.NONE,
                    stage.inFlight()))
            .toList();
    return new AsynchronousPlan(
        plan.rule(), plan.microBatches(), plan.microBatch(), plan.replicas(), stages);
  }

  /** What the formula of a rule's planner does not count, or counts otherwise. */
  public static String leftOut(Rule rule) {
    String all =
        "the formula leaves out latency, the optimizer's update, and links that several transfers share";
    return rule == Rule.PIPEDREAM ? all + ", and counts twice the bytes of an all-reduce" : all;
  }
}
