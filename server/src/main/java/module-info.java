/** The pages of {@code pipewright serve}; found as a service, so that nothing is exported. */
@SuppressWarnings("requires-automatic") // libraries that have a name for modules and no more
module dev.pipewright.server {
  requires dev.pipewright.app;
  requires dev.pipewright.core;
  requires dev.pipewright.formats;
  requires com.zaxxer.hikari;
  requires gg.jte.runtime;
  requires io.helidon.http;
  requires io.helidon.webserver;
  requires java.logging;
  requires java.sql;
  requires static java.compiler; // an annotation of compiled templates
  requires static org.jspecify;

  opens dev.pipewright.server.template to
      gg.jte.runtime;

  provides dev.pipewright.app.cli.serve.ServingService with
      dev.pipewright.server.LocalSite;
}
