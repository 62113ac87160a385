package dev.pipewright.solver;

import com.google.ortools.sat.CpModel;
import com.google.ortools.sat.CpSolver;
import com.google.ortools.sat.CpSolverStatus;

/**
 * One run of CP-SAT, always the same for the same model: a single worker, since several race each
 * other, and a fixed seed.
 */
final class Search {
  private static final int SEED = 1;

  /** Loads the native library when first needed. */
  private static final class Native {
    static final boolean LOADED = load();

    private static boolean load() {
      NativeSolver.load();
      return true;
    }
  }

  private final CpSolver solver;
  private final CpSolverStatus status;

  private Search(CpSolver solver, CpSolverStatus status) {
    this.solver = solver;
    this.status = status;
  }

  /** Loads the native library; to be called before a model is made. */
  static void load() {
    if (!Native.LOADED) {
      throw new IllegalStateException("the native solver is not there");
    }
  }

  static Search run(CpModel model, SearchLimit limit) {
    CpSolver solver = new CpSolver();
    solver
        .getParameters()
        .setNumWorkers(1)
        .setRandomSeed(SEED)
        .setMaxDeterministicTime(limit.work())
        .setMaxTimeInSeconds(limit.seconds());
    CpSolverStatus status = solver.solve(model);
    if (status == CpSolverStatus.MODEL_INVALID) {
      throw new IllegalStateException(model.validate());
    }
    return new Search(solver, status);
  }

  boolean found() {
    return status == CpSolverStatus.OPTIMAL || status == CpSolverStatus.FEASIBLE;
  }

  /** Whether the search ended by itself: with an optimum, or without any solution. */
  boolean complete() {
    return status == CpSolverStatus.OPTIMAL || status == CpSolverStatus.INFEASIBLE;
  }

  boolean impossible() {
    return status == CpSolverStatus.INFEASIBLE;
  }

  CpSolver values() {
    return solver;
  }

  /** No solution has a smaller objective. */
  long bound() {
    return (long) Math.ceil(solver.bestObjectiveBound() - 1e-6);
  }

  double seconds() {
    return solver.wallTime();
  }

  double work() {
    return solver.response().getDeterministicTime();
  }
}
