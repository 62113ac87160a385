package dev.pipewright.planner;

import static dev.pipewright.planner.StageMemoryBoundTest.MICRO_BATCHES;
import static dev.pipewright.planner.StageMemoryBoundTest.RANKS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.planner.StageMemoryBoundTest.Problem;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.hipparchus.exception.MathIllegalStateException;
import org.hipparchus.optim.linear.LinearConstraint;
import org.hipparchus.optim.linear.LinearConstraintSet;
import org.hipparchus.optim.linear.LinearObjectiveFunction;
import org.hipparchus.optim.linear.NonNegativeConstraint;
import org.hipparchus.optim.linear.Relationship;
import org.hipparchus.optim.linear.SimplexSolver;
import org.hipparchus.optim.nonlinear.scalar.GoalType;
import org.junit.jupiter.api.Test;

/**
 * {@link StageMemoryBound} is the relaxation to a linear program: cuts in parts, and recomputation
 * in parts. A Lagrangian relaxation whose subproblem has whole solutions is as high as the linear
 * one (A. M. Geoffrion, 1974), and the simplex method finds the latter.
 */
class StageMemoryRelaxationTest {
  private static final int INSTANCES = 60;
  private static final double ROUNDING = 1e-7;
  private static final double CLOSE = 2e-3; // the search for the best price ends early

  /** A stage of some runs; each run of it is kept, or recomputed. */
  private record Stage(int stage, int first, int end) {}

  /**
   * Columns: the share of each possible stage, then for each of them how much of each run is
   * recomputed, then the step.
   */
  private static final class Program {
    private final Problem problem;
    private final List<Stage> stages = new ArrayList<>();
    private final int[] repeated; // first column of each stage's runs
    private final int columns;
    private final List<LinearConstraint> rows = new ArrayList<>();

    Program(Problem problem, int count) {
      this.problem = problem;
      int size = problem.loads().size();
      for (int stage = 0; stage < count; stage++) {
        for (int first = stage; first < size; first++) {
          for (int end = first + 1; end <= size; end++) {
            stages.add(new Stage(stage, first, end));
          }
        }
      }
      repeated = new int[stages.size()];
      int next = stages.size();
      for (int at = 0; at < repeated.length; at++) {
        repeated[at] = next;
        next += stages.get(at).end() - stages.get(at).first();
      }
      columns = next + 1;
      flow(count, size);
      double[] step = new double[columns];
      step[columns - 1] = 1;
      for (int at = 0; at < repeated.length; at++) {
        Stage each = stages.get(at);
        for (int run = each.first(); run < each.end(); run++) {
          double[] most = new double[columns];
          most[repeated[at] + run - each.first()] = 1;
          most[at] = -1;
          rows.add(new LinearConstraint(most, Relationship.LEQ, 0));
          step[repeated[at] + run - each.first()] =
              -problem.loads().forward()[run] * MICRO_BATCHES / RANKS;
        }
      }
      rows.add(new LinearConstraint(step, Relationship.GEQ, problem.mean()));
    }

    /** Each stage begins where the one before ends. */
    private void flow(int count, int size) {
      for (int stage = 0; stage <= count; stage++) {
        for (int cut = 0; cut <= size; cut++) {
          double[] row = new double[columns];
          for (int at = 0; at < stages.size(); at++) {
            Stage each = stages.get(at);
            row[at] += each.stage() == stage && each.first() == cut ? 1 : 0;
            row[at] -= each.stage() == stage - 1 && each.end() == cut ? 1 : 0;
          }
          int begins = stage == 0 && cut == 0 ? 1 : stage == count && cut == size ? -1 : 0;
          rows.add(new LinearConstraint(row, Relationship.EQ, begins));
        }
      }
    }

    /** Bytes by input and run of a stage. */
    private interface Bytes {
      double of(Stage stage, int run);
    }

    private double[] kept(Bytes inputs, Bytes runs) {
      double[] row = new double[columns];
      for (int at = 0; at < repeated.length; at++) {
        Stage each = stages.get(at);
        row[at] = inputs.of(each, each.first());
        for (int run = each.first(); run < each.end(); run++) {
          row[at] += runs.of(each, run);
          row[repeated[at] + run - each.first()] = -runs.of(each, run);
        }
      }
      return row;
    }

    void atOnce(int[] inFlight) {
      double[] row =
          kept(
              (stage, run) -> inFlight[stage.stage()] * problem.inputs()[run],
              (stage, run) -> inFlight[stage.stage()] * problem.loads().kept()[run]);
      rows.add(new LinearConstraint(row, Relationship.LEQ, RANKS * problem.free()));
    }

    void overTime() {
      double[] row =
          kept(
              (stage, run) -> problem.inputs()[run] * later(run),
              (stage, run) ->
                  problem.loads().kept()[run]
                      * (later(stage.first()) + (problem.splits() ? weights(run) : 0)));
      row[columns - 1] = -RANKS * problem.free() / MICRO_BATCHES;
      rows.add(new LinearConstraint(row, Relationship.LEQ, 0));
    }

    private double weights(int run) {
      return problem.loads().weights()[run];
    }

    private double later(int first) {
      double later = 0;
      for (int at = first; at < problem.loads().size(); at++) {
        later += problem.loads().passes(at) - (problem.splits() ? weights(at) : 0);
      }
      return later;
    }

    /** The shortest step; infinite where there is none. */
    double step() {
      double[] goal = new double[columns];
      goal[columns - 1] = 1;
      try {
        return new SimplexSolver()
            .optimize(
                new LinearObjectiveFunction(goal, 0),
                new LinearConstraintSet(rows),
                GoalType.MINIMIZE,
                new NonNegativeConstraint(true))
            .getValue();
      } catch (MathIllegalStateException e) { // no solution
        return Double.POSITIVE_INFINITY;
      }
    }
  }

  private static Problem problem(SplittableRandom random) {
    Problem problem = Problem.of(random);
    while (problem.loads().size() > 5) { // dense programs grow fast
      problem = Problem.of(random);
    }
    return problem;
  }

  @Test
  void overTimeItIsTheLinearRelaxation() {
    int raised = 0;
    for (int instance = 0; instance < INSTANCES; instance++) {
      SplittableRandom random = new SplittableRandom(instance);
      Problem problem = problem(random);
      int stages = random.nextInt(1, problem.loads().size() + 1);
      Program program = new Program(problem, stages);
      program.overTime();
      double bound = problem.bound().overTime(stages, problem.mean(), Double.POSITIVE_INFINITY);
      agree(program.step(), bound, instance);
      raised += bound > problem.mean() * (1 + CLOSE) ? 1 : 0;
    }
    assertTrue(raised > INSTANCES / 6, "memory matters: " + raised);
  }

  @Test
  void atOnceItIsTheLinearRelaxation() {
    int raised = 0;
    int impossible = 0;
    for (int instance = 0; instance < INSTANCES; instance++) {
      SplittableRandom random = new SplittableRandom(7000 + instance);
      Problem problem = problem(random);
      int[] inFlight = random.ints(random.nextInt(1, problem.loads().size() + 1), 1, 4).toArray();
      Program program = new Program(problem, inFlight.length);
      program.atOnce(inFlight);
      double bound = problem.bound().atOnce(inFlight, problem.mean(), Double.POSITIVE_INFINITY);
      if (Double.isInfinite(bound)) {
        assertEquals(bound, program.step());
        impossible++;
      } else {
        agree(program.step(), bound, instance);
        raised += bound > problem.mean() * (1 + CLOSE) ? 1 : 0;
      }
    }
    assertTrue(raised > INSTANCES / 6, "memory matters: " + raised);
    assertTrue(impossible < INSTANCES / 2, "impossible: " + impossible);
  }

  private static void agree(double relaxed, double bound, int instance) {
    assertTrue(bound <= relaxed * (1 + ROUNDING), instance + ": " + bound + " above " + relaxed);
    assertTrue(bound >= relaxed * (1 - CLOSE), instance + ": " + bound + " far below " + relaxed);
  }
}
