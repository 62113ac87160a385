package dev.pipewright.app.cli;

import dev.pipewright.app.cli.catalog.CalibrateCommand;
import dev.pipewright.app.cli.catalog.ClustersCommand;
import dev.pipewright.app.cli.catalog.ModelsCommand;
import dev.pipewright.app.cli.export.ExportCommand;
import dev.pipewright.app.cli.given.CheckCommand;
import dev.pipewright.app.cli.given.SimulateCommand;
import dev.pipewright.app.cli.plan.PlanCommand;
import dev.pipewright.app.cli.predict.PredictCommand;
import dev.pipewright.app.cli.reproduce.ReproduceCommand;
import dev.pipewright.app.cli.schedule.CyclicMemoryCommand;
import dev.pipewright.app.cli.schedule.ScheduleCommand;
import dev.pipewright.app.cli.serve.ServeCommand;
import dev.pipewright.app.cli.setup.CompletionCommand;
import dev.pipewright.app.cli.setup.DoctorCommand;
import dev.pipewright.app.cli.terminal.Failures;
import dev.pipewright.app.cli.terminal.SearchDeadline;
import dev.pipewright.app.cli.trace.ImportCommand;
import dev.pipewright.app.cli.train.CheckpointCommand;
import dev.pipewright.app.cli.train.CompareCommand;
import dev.pipewright.app.cli.train.JoinCommand;
import dev.pipewright.app.cli.train.LaunchTrainingCommand;
import dev.pipewright.app.cli.train.ProfileCommand;
import dev.pipewright.app.cli.train.TrainCommand;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
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
    description =
        "Plans how to split neural-network training over many devices, and checks the plan by"
            + " simulation and by running it.",
    subcommands = {
      PlanCommand.class,
      PredictCommand.class,
      SimulateCommand.class,
      ScheduleCommand.class,
      CheckCommand.class,
      ExportCommand.class,
      TrainCommand.class,
      ProfileCommand.class,
      CompareCommand.class,
      CalibrateCommand.class,
      ImportCommand.class,
      CheckpointCommand.class,
      JoinCommand.class,
      LaunchTrainingCommand.class,
      ModelsCommand.class,
      ClustersCommand.class,
      CyclicMemoryCommand.class,
      ServeCommand.class,
      ReproduceCommand.class,
      CompletionCommand.class,
      DoctorCommand.class
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

  Main() {
    this.spec = CommandSpec.create(); // until picocli sets the real one
  }

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "no command given; `pipewright --help` lists them");
  }

  /** Runs a command line and exits with its status. */
  public static void main(String[] args) {
    SearchDeadline.sayInterrupts();
    Sink sink = new Sink(new FileOutputStream(FileDescriptor.out));
    PrintWriter err = utf8(new FileOutputStream(FileDescriptor.err));
    int status = run(utf8(sink), err, args);
    if (sink.failed()) {
      err.println("pipewright: standard output cannot be written; check the free space behind it");
      status = Math.max(status, Failures.WRONG_INPUT);
    }
    SearchDeadline.exit(status);
  }

  private static PrintWriter utf8(OutputStream to) {
    return new PrintWriter(new OutputStreamWriter(to, StandardCharsets.UTF_8), true);
  }

  /** Runs a command line on the given streams; returns its exit status. */
  public static int run(PrintWriter output, PrintWriter errors, String... args) {
    return new CommandLineProgram().run(output, errors, args);
  }
}
