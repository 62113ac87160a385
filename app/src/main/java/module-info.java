/** The command line and the reports it prints; picocli fills its commands in by reflection. */
@SuppressWarnings("module") // app is compiled before the module that it exports to
module dev.pipewright.app {
  requires dev.pipewright.core;
  requires dev.pipewright.formats;
  requires dev.pipewright.solver;
  requires info.picocli;
  requires java.management;
  requires jdk.management;
  requires static org.jspecify;

  exports dev.pipewright.app.cli to
      dev.pipewright.server;
  exports dev.pipewright.app.cli.serve to
      dev.pipewright.server;
  exports dev.pipewright.app.report.page to
      dev.pipewright.server;
  exports dev.pipewright.app.report.text to
      dev.pipewright.server;
  exports dev.pipewright.app.report.timeline to
      dev.pipewright.server;

  opens dev.pipewright.app.cli to
      info.picocli;
  opens dev.pipewright.app.cli.catalog to
      info.picocli;
  opens dev.pipewright.app.cli.export to
      info.picocli;
  opens dev.pipewright.app.cli.given to
      info.picocli;
  opens dev.pipewright.app.cli.input to
      info.picocli;
  opens dev.pipewright.app.cli.launch to
      info.picocli;
  opens dev.pipewright.app.cli.plan to
      info.picocli;
  opens dev.pipewright.app.cli.predict to
      info.picocli;
  opens dev.pipewright.app.cli.reproduce to
      info.picocli;
  opens dev.pipewright.app.cli.schedule to
      info.picocli;
  opens dev.pipewright.app.cli.serve to
      info.picocli;
  opens dev.pipewright.app.cli.setup to
      info.picocli;
  opens dev.pipewright.app.cli.sweep to
      info.picocli;
  opens dev.pipewright.app.cli.terminal to
      info.picocli;
  opens dev.pipewright.app.cli.trace to
      info.picocli;
  opens dev.pipewright.app.cli.train to
      info.picocli;

  uses dev.pipewright.app.cli.serve.ServingService;
  uses dev.pipewright.app.cli.reproduce.PublishedResult;
  uses dev.pipewright.execution.CheckpointService;
  uses dev.pipewright.execution.JoiningService;
  uses dev.pipewright.execution.ProfilingService;
  uses dev.pipewright.execution.TrainingService;
}
