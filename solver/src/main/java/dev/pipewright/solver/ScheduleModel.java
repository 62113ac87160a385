package dev.pipewright.solver;

import com.google.ortools.sat.CpModel;
import com.google.ortools.sat.CpSolver;
import com.google.ortools.sat.CumulativeConstraint;
import com.google.ortools.sat.IntVar;
import com.google.ortools.sat.IntervalVar;
import com.google.ortools.sat.LinearExpr;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.sim.Run;
import dev.pipewright.solver.ScheduleProblem.Goal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * A {@link ScheduleProblem} for CP-SAT. Variables: the start of every op. Constraints: each op
 * after those it waits for; a rank's ops apart; micro-batches in order at every stage and pass;
 * with one stage of a rank, the forward pass of micro-batch {@code i + cap} after the activations
 * of {@code i} are free, otherwise all activations of the rank as a cumulative resource. Objective:
 * the last end, by rank less its first start where the span counts.
 */
final class ScheduleModel {
  /** An op of a stage with the variable that says when it starts. */
  private record Start(Pass pass, int stage, int microBatch, IntVar at, long ticks) {
    LinearExpr end() {
      return LinearExpr.affine(at, 1, ticks);
    }
  }

  private final CpModel model = new CpModel();
  private final ScheduleProblem problem;
  private final Durations durations;
  private final long horizon;
  private final Start[][] forward; // by stage and micro-batch
  private final Start[][] backward;
  private final Start[][] weight; // the backward pass itself where that is whole
  private final IntVar objective;

  /** The model that looks for a value between two bounds, in ticks. */
  ScheduleModel(ScheduleProblem problem, Durations durations, long atLeast, long atMost) {
    this.problem = problem;
    this.durations = durations;
    int last = problem.placement().stages() - 1;
    boolean span = problem.goal() == Goal.SPAN;
    horizon = atMost + (span ? durations.head(last, 0) : 0);
    Pass whole = problem.split() ? Pass.BACKWARD_INPUT : Pass.BACKWARD;
    forward = starts(Pass.FORWARD, durations.forward());
    backward = starts(whole, durations.backward());
    weight = problem.split() ? starts(Pass.BACKWARD_WEIGHT, durations.weight()) : backward;
    objective = model.newIntVar(atLeast, atMost, "value");
    for (int stage = 0; stage <= last; stage++) {
      order(stage);
      for (int i = 0; i < problem.microBatches(); i++) {
        waits(stage, i);
      }
      long first = span ? durations.head(stage, 0) : 0;
      Start end = weight[stage][problem.microBatches() - 1];
      model.addGreaterOrEqual(objective, LinearExpr.affine(end.at, 1, end.ticks - first));
    }
    for (int rank = 0; rank < problem.placement().ranks(); rank++) {
      apart(rank);
      if (problem.cap()[rank] < problem.all(rank)) {
        cap(rank, problem.cap()[rank]);
      }
    }
    model.minimize(objective);
  }

  private Start[][] starts(Pass pass, long[] ticks) {
    Start[][] starts = new Start[ticks.length][problem.microBatches()];
    for (int stage = 0; stage < ticks.length; stage++) {
      for (int i = 0; i < starts[stage].length; i++) {
        IntVar at = model.newIntVar(0, horizon - ticks[stage], pass.letter() + stage + "," + i);
        starts[stage][i] = new Start(pass, stage, i, at, ticks[stage]);
      }
    }
    return starts;
  }

  private void order(int stage) {
    for (Start[][] starts : passes()) {
      for (int i = 1; i < problem.microBatches(); i++) {
        after(starts[stage][i], starts[stage][i - 1], 0);
      }
    }
  }

  private List<Start[][]> passes() {
    return problem.split() ? List.of(forward, backward, weight) : List.of(forward, backward);
  }

  private void waits(int stage, int i) {
    Placement placement = problem.placement();
    if (placement.last(stage)) {
      after(backward[stage][i], forward[stage][i], 0);
    } else {
      after(forward[stage + 1][i], forward[stage][i], durations.there()[stage]);
      after(backward[stage][i], backward[stage + 1][i], durations.back()[stage]);
    }
    if (problem.split()) {
      after(weight[stage][i], backward[stage][i], 0);
    }
  }

  private void after(Start later, Start earlier, long transfer) {
    model.addGreaterOrEqual(later.at, LinearExpr.affine(earlier.at, 1, earlier.ticks + transfer));
  }

  private void apart(int rank) {
    List<IntervalVar> ops = new ArrayList<>();
    for (Start start : of(rank)) {
      ops.add(model.newFixedSizeIntervalVar(start.at, start.ticks, start.at.getName()));
    }
    model.addNoOverlap(ops);
  }

  private List<Start> of(int rank) {
    List<Start> ops = new ArrayList<>();
    for (Start[][] starts : passes()) {
      for (int stage = 0; stage < starts.length; stage++) {
        if (problem.placement().rankOf(stage) == rank) {
          ops.addAll(List.of(starts[stage]));
        }
      }
    }
    return ops;
  }

  private void cap(int rank, int most) {
    if (problem.all(rank) == problem.microBatches()) { // one stage
      for (Start[] starts : forward) {
        int stage = starts[0].stage;
        for (int i = most; i < starts.length && on(stage, rank); i++) {
          after(starts[i], weight[stage][i - most], 0);
        }
      }
      return;
    }
    CumulativeConstraint held = model.addCumulative(most);
    for (int stage = 0; stage < forward.length; stage++) {
      for (int i = 0; i < forward[stage].length && on(stage, rank); i++) {
        Start from = forward[stage][i];
        LinearExpr end = weight[stage][i].end();
        IntVar size = model.newIntVar(0, horizon, "held " + from.at.getName());
        held.addDemand(model.newIntervalVar(from.at, size, end, "held"), 1);
      }
    }
  }

  private boolean on(int stage, int rank) {
    return problem.placement().rankOf(stage) == rank;
  }

  /** Guesses all starts as in a run. */
  void hint(Run run) {
    Schedule schedule = run.schedule();
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      long[] program = schedule.packed(rank);
      for (int i = 0; i < program.length; i++) {
        long at = durations.ticks().count(run.start(rank, i));
        Start[][] starts =
            switch (Schedule.pass(program[i])) {
              case FORWARD -> forward;
              case BACKWARD_WEIGHT -> weight;
              default -> backward;
            };
        model.addHint(starts[Schedule.stage(program[i])][Schedule.microBatch(program[i])].at, at);
      }
    }
  }

  CpModel model() {
    return model;
  }

  /** The order that a solution stands for. */
  Schedule schedule(CpSolver values) {
    Placement placement = problem.placement();
    long[][] programs = new long[placement.ranks()][];
    for (int rank = 0; rank < programs.length; rank++) {
      programs[rank] =
          of(rank).stream()
              .sorted(
                  Comparator.<Start>comparingLong(start -> values.value(start.at))
                      .thenComparingLong(Start::ticks)
                      .thenComparing(Start::pass)
                      .thenComparingInt(this::along)
                      .thenComparingInt(Start::microBatch))
              .mapToLong(start -> Schedule.pack(start.pass, start.stage, start.microBatch))
              .toArray();
    }
    return new Schedule("optimal", placement, problem.microBatches(), programs);
  }

  /** Along the chain there, against it back: the order of ops that take no time. */
  private int along(Start start) {
    return start.pass == Pass.FORWARD ? start.stage : -start.stage;
  }
}
