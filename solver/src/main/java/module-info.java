/** Proven optimal schedules, Bayesian optimisation and calibration, for the command line. */
@SuppressWarnings({
  "module", // solver is compiled before the module that it exports to
  "requires-automatic" // OR-Tools, EJML and Hipparchus have no descriptors
})
module dev.pipewright.solver {
  requires dev.pipewright.core;
  requires ejml.core;
  requires ejml.ddense;
  requires hipparchus.core;
  requires hipparchus.optim;
  requires ortools.java;
  requires static org.jspecify;

  exports dev.pipewright.solver to
      dev.pipewright.app;
  exports dev.pipewright.solver.calibrate to
      dev.pipewright.app;

  provides dev.pipewright.planner.catalog.PlannerProvider with
      dev.pipewright.solver.SolverPlanners;
}
