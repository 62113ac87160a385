/**
 * Values, cost models, planners and the simulator. Exported to all are the packages of the types
 * that {@code docs/api.md} lists; the others are for Pipewright's own modules.
 */
@SuppressWarnings("module") // core is compiled before the modules that it exports to
module dev.pipewright.core {
  requires static org.jspecify;

  exports dev.pipewright.cluster;
  exports dev.pipewright.cost;
  exports dev.pipewright.model;
  exports dev.pipewright.parallel;
  exports dev.pipewright.plan;
  exports dev.pipewright.planner;
  exports dev.pipewright.profile;
  exports dev.pipewright.schedule;
  exports dev.pipewright.sim;
  exports dev.pipewright.trace;
  exports dev.pipewright.units;
  exports dev.pipewright.compare to
      dev.pipewright.formats,
      dev.pipewright.app;
  exports dev.pipewright.exchange to
      dev.pipewright.runtime;
  exports dev.pipewright.execution to
      dev.pipewright.formats,
      dev.pipewright.runtime,
      dev.pipewright.app;
  exports dev.pipewright.model.transformer to
      dev.pipewright.formats,
      dev.pipewright.runtime,
      dev.pipewright.app;
  exports dev.pipewright.planner.catalog to
      dev.pipewright.formats,
      dev.pipewright.solver,
      dev.pipewright.app;
  exports dev.pipewright.planner.madpipe to
      dev.pipewright.formats,
      dev.pipewright.app;
  exports dev.pipewright.planner.memory to
      dev.pipewright.formats,
      dev.pipewright.solver,
      dev.pipewright.runtime,
      dev.pipewright.app;
  exports dev.pipewright.planner.partition to
      dev.pipewright.app;
  exports dev.pipewright.planner.pipedream to
      dev.pipewright.formats,
      dev.pipewright.app;
  exports dev.pipewright.planner.placement to
      dev.pipewright.formats,
      dev.pipewright.app;
  exports dev.pipewright.planner.reasons;
  exports dev.pipewright.planner.recompute to
      dev.pipewright.formats,
      dev.pipewright.app;
  exports dev.pipewright.predict.paradl to
      dev.pipewright.formats,
      dev.pipewright.app;
  exports dev.pipewright.predict.pipeline to
      dev.pipewright.formats,
      dev.pipewright.app;
  exports dev.pipewright.predict.run to
      dev.pipewright.formats,
      dev.pipewright.runtime,
      dev.pipewright.app;
  exports dev.pipewright.predict.transformer.search to
      dev.pipewright.formats,
      dev.pipewright.app;
  exports dev.pipewright.predict.transformer to
      dev.pipewright.formats,
      dev.pipewright.solver,
      dev.pipewright.app;
  exports dev.pipewright.schedule.catalog to
      dev.pipewright.formats,
      dev.pipewright.app;
  exports dev.pipewright.schedule.check to
      dev.pipewright.formats,
      dev.pipewright.app;
  exports dev.pipewright.schedule.cyclic to
      dev.pipewright.runtime,
      dev.pipewright.app;
  exports dev.pipewright.schedule.periodic to
      dev.pipewright.formats,
      dev.pipewright.runtime,
      dev.pipewright.app;
  exports dev.pipewright.schedule.search to
      dev.pipewright.formats,
      dev.pipewright.solver,
      dev.pipewright.app;
  exports dev.pipewright.sim.repeated to
      dev.pipewright.app;
  exports dev.pipewright.sim.steady to
      dev.pipewright.formats,
      dev.pipewright.app;
  exports dev.pipewright.zoo to
      dev.pipewright.formats,
      dev.pipewright.runtime,
      dev.pipewright.app,
      dev.pipewright.server;

  uses dev.pipewright.planner.catalog.PlannerProvider;
}
