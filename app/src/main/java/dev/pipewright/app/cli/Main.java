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
import dev.pipewright.app.cli.schedule.SchedulesCommand;
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
import picocli.CommandLine.Command;

/** Plans, predicts and simulates the training of deep neural networks on many devices. */
@Command(
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
      SchedulesCommand.class,
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
public final class Main extends ProgramRoot {
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
    return CommandLineProgram.startingWith(args).run(output, errors, args);
  }
}
