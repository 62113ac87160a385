package dev.pipewright.app.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The program without its commands. */
@Command(
    name = "pipewright",
    version = "pipewright 0.1.0",
    description =
        "Plans how to split neural-network training over many devices, and checks the plan by"
            + " simulation and by running it.")
class ProgramRoot implements Runnable {
  @Spec private CommandSpec spec;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      scope = CommandLine.ScopeType.INHERIT,
      description = "Show this help.")
  boolean help;

  @Option(
      names = {"-V", "--version"},
      versionHelp = true,
      description = "Show the version.")
  boolean version;

  @Option(
      names = "--debug",
      scope = CommandLine.ScopeType.INHERIT,
      description = "Show the stack trace of a failure.")
  boolean debug;

  ProgramRoot() {
    this.spec = CommandSpec.create(); // until picocli sets the real one
  }

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "no command given; `pipewright --help` lists them");
  }
}
