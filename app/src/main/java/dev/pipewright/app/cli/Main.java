package dev.pipewright.app.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Plans, predicts and simulates the training of deep neural networks on many devices. */
@Command(
    name = "pipewright",
    version = "pipewright 0.1.0",
    description = "Says how to split a neural network over many devices, and proves it.",
    subcommands = {
      PlanCommand.class,
      SimulateCommand.class,
      CheckCommand.class,
      ModelsCommand.class,
      ClustersCommand.class
    },
    footer = {
      "",
      "Examples:",
      "  pipewright plan bert-48 --cluster dapple-a --global-batch 64",
      "  pipewright plan bert-48 --cluster dapple-a --global-batch 64 --out bert",
      "  pipewright simulate bert/plan.json",
      "",
      "`pipewright COMMAND --help` says more about a command."
    })
public final class Main implements Runnable {
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

  private Main() {
    this.spec = CommandSpec.create(); // until picocli sets the real one
  }

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "no command given; `pipewright --help` lists them");
  }

  /** Runs a command line and exits with its status. */
  public static void main(String[] args) {
    System.exit(run(utf8(FileDescriptor.out), utf8(FileDescriptor.err), args));
  }

  private static PrintWriter utf8(FileDescriptor to) {
    return new PrintWriter(
        new OutputStreamWriter(new FileOutputStream(to), StandardCharsets.UTF_8), true);
  }

  /** Runs a command line on the given streams; returns its exit status. */
  static int run(PrintWriter out, PrintWriter err, String... args) {
    CommandLine line = new CommandLine(new Main());
    line.setOut(out);
    line.setErr(err);
    line.setCaseInsensitiveEnumValuesAllowed(true);
    line.setUsageHelpAutoWidth(true);
    Failures failures = new Failures();
    line.setParameterExceptionHandler(failures);
    line.setExecutionExceptionHandler(failures);
    int status = line.execute(args);
    out.flush();
    err.flush();
    return status;
  }
}
