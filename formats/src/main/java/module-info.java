/** Files in and out, and the library: its package {@code dev.pipewright.api} is for all. */
@SuppressWarnings("module") // formats is compiled before the modules that it exports to
module dev.pipewright.formats {
  requires transitive dev.pipewright.core;
  requires tools.jackson.core;
  requires tools.jackson.dataformat.yaml;
  requires static org.jspecify;

  exports dev.pipewright.api;
  exports dev.pipewright.formats to
      dev.pipewright.app,
      dev.pipewright.server;
  exports dev.pipewright.formats.answer to
      dev.pipewright.app;
  exports dev.pipewright.formats.catalog to
      dev.pipewright.runtime,
      dev.pipewright.app,
      dev.pipewright.server;
  exports dev.pipewright.formats.cluster to
      dev.pipewright.app,
      dev.pipewright.server;
  exports dev.pipewright.formats.export to
      dev.pipewright.app,
      dev.pipewright.server;
  exports dev.pipewright.formats.file to
      dev.pipewright.runtime,
      dev.pipewright.app,
      dev.pipewright.server;
  exports dev.pipewright.formats.imported to
      dev.pipewright.app,
      dev.pipewright.server;
  exports dev.pipewright.formats.json to
      dev.pipewright.runtime,
      dev.pipewright.app,
      dev.pipewright.server;
  exports dev.pipewright.formats.machine to
      dev.pipewright.app,
      dev.pipewright.server;
  exports dev.pipewright.formats.memory to
      dev.pipewright.app;
  exports dev.pipewright.formats.model to
      dev.pipewright.app;
  exports dev.pipewright.formats.oracle to
      dev.pipewright.app,
      dev.pipewright.server;
  exports dev.pipewright.formats.paradl to
      dev.pipewright.app;
  exports dev.pipewright.formats.problem to
      dev.pipewright.app,
      dev.pipewright.server;
  exports dev.pipewright.formats.profile to
      dev.pipewright.app;
  exports dev.pipewright.formats.schedule to
      dev.pipewright.app,
      dev.pipewright.server;
  exports dev.pipewright.formats.sweep to
      dev.pipewright.app;
  exports dev.pipewright.formats.trace to
      dev.pipewright.app;
  exports dev.pipewright.formats.transformer to
      dev.pipewright.app;
}
