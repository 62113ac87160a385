/** Proven optimal schedules and Bayesian optimisation, for the command line. */
@SuppressWarnings({
  "module", // solver is compiled before the module that it exports to
  "requires-automatic" // OR-Tools and EJML have no descriptors
})
module dev.pipewright.solver {
  requires dev.pipewright.core;
  requires ejml.core;
  requires ejml.ddense;
  requires ortools.java;
  requires static org.jspecify;

  exports dev.pipewright.solver to
      dev.pipewright.app;

  provides dev.pipewright.planner.catalog.PlannerProvider with
      dev.pipewright.solver.SolverPlanners;
}
