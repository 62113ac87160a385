package dev.pipewright.app.cli;

import dev.pipewright.app.cli.given.CheckCommand;
import dev.pipewright.app.cli.given.SimulateCommand;
import dev.pipewright.app.cli.input.OptionValues;
import dev.pipewright.app.cli.plan.PlanCommand;
import dev.pipewright.app.cli.predict.PredictCommand;
import dev.pipewright.app.cli.schedule.ScheduleCommand;
import dev.pipewright.app.cli.terminal.Failures;
import dev.pipewright.app.cli.terminal.Screen;
import dev.pipewright.app.cli.terminal.SearchDeadline;
import dev.pipewright.app.cli.terminal.Terminal;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The command line with all its commands: built once, which takes longer than most answers, and run
 * as often as wanted. Each run begins with the defaults of all flags. One thread at a time.
 */
public final class CommandLineProgram {
  /** Commands that people wait for, and that know nothing of others. */
  private static final Map<String, Class<?>> ALONE =
      Map.of(
          "plan", PlanCommand.class,
          "predict", PredictCommand.class,
          "simulate", SimulateCommand.class,
          "schedule", ScheduleCommand.class,
          "check", CheckCommand.class);

  private final CommandLine line;

  public CommandLineProgram() {
    this(new CommandLine(new Main()));
  }

  private CommandLineProgram(CommandLine line) {
    this.line = line;
    line.setCaseInsensitiveEnumValuesAllowed(true);
    line.setUsageHelpWidth(Terminal.columns());
    setUp(line);
    HelpTopics.register(line);
    Failures failures = new Failures();
    line.setExecutionStrategy(failures);
    line.setParameterExceptionHandler(failures);
    line.setExecutionExceptionHandler(failures);
    OptionValues.register(line);
  }

  /** One for a single run, with only the command that the line begins with where that will do. */
  static CommandLineProgram startingWith(String... args) {
    Class<?> command = args.length == 0 ? null : ALONE.get(args[0]);
    return command == null
        ? new CommandLineProgram()
        : new CommandLineProgram(new CommandLine(new ProgramRoot()).addSubcommand(command));
  }

  /** So that the user sees all mistakes of a command line at once, and a short synopsis. */
  private static void setUp(CommandLine line) {
    line.getCommandSpec().parser().collectErrors(true);
    line.getCommandSpec().usageMessage().abbreviateSynopsis(true);
    line.setExpandAtFiles(false); // @ begins a name like any other
    line.getSubcommands().values().forEach(CommandLineProgram::setUp);
  }

  /** All commands and their options, for manuals. */
  public CommandSpec commands() {
    return line.getCommandSpec();
  }

  /** The options of a command by topic, as its help lists them, for manuals. */
  public Map<String, List<OptionSpec>> options(CommandSpec command) {
    return HelpTopics.of(command);
  }

  /** Runs a command line on the given streams; returns its exit status. */
  public int run(PrintWriter output, PrintWriter errors, String... args) {
    Screen out = Screen.of(output, Terminal.colours());
    Screen err = Screen.after(out, errors, Terminal.colours());
    line.setOut(out);
    line.setErr(err);
    int status;
    try {
      status = line.execute(args);
    } catch (OutOfMemoryError | StackOverflowError e) { // picocli handles exceptions only
      status = Failures.report(e, err, List.of(args).contains("--debug"));
    }
    out.flush();
    err.flush();
    return status;
  }

  /** The same, with searches that end with the best so far as soon as they are cancelled. */
  public int run(
      PrintWriter output, PrintWriter errors, BooleanSupplier cancelled, String... args) {
    return SearchDeadline.cancellable(cancelled, () -> run(output, errors, args));
  }
}
