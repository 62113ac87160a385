package dev.pipewright.app.cli;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.SteadyState;
import dev.pipewright.formats.SteadyFigures;
import dev.pipewright.formats.problem.SizeLimits;
import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.plan.AsynchronousPlan.Rule;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.units.Units;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Runs plans without flushes in the simulator, under its usual conditions, and says why that takes
 * another time than the planner's formula gives.
 */
final class SteadyRun {
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

  private static SteadyState state(AsynchronousPlan plan, StageCosts costs) {
    Cluster cluster = costs.workload().cluster();
    return SteadyState.of(plan, costs, AsynchronousSimulation.usual(plan, cluster));
  }

  /** Whether devices of all stages have had equally many turns only after too many passes. */
  static boolean tooLong(AsynchronousPlan plan) {
    long each = (long) plan.stages().size() * SteadyState.rounds(plan);
    return plan.round() > SizeLimits.PASSES / each;
  }

  /** Of each device of the cluster. */
  static List<Long> peakBytes(AsynchronousPlan plan, SteadyState steady, Cluster cluster) {
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
  static String leftOut(Rule rule) {
    String all =
        "the formula leaves out latency, the optimizer's update, and links that several transfers share";
    return rule == Rule.PIPEDREAM ? all + ", and counts twice the bytes of an all-reduce" : all;
  }
}
