package dev.pipewright.app.cli.terminal;

import dev.pipewright.app.cli.input.Mistakes;
import dev.pipewright.execution.NotEnoughMemoryException;
import dev.pipewright.execution.TrainingInterruptedException;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.OutputFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IExecutionStrategy;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** Words failures: a sentence for a mistake, a stack trace only where the user asked for one. */
public final class Failures
    implements IExecutionStrategy, IParameterExceptionHandler, IExecutionExceptionHandler {
  public static final int NO = 1;
  public static final int WRONG_INPUT = 2;
  public static final int BROKEN = 3;

  /**
   * An interrupt ended a launched run with a checkpoint, from which a requeued job goes on: the
   * status of a temporary failure in BSD's {@code sysexits.h}.
   */
  public static final int REQUEUE = 75;

  /** An interrupt ended it; where that was a signal, the process ends with 128 and its number. */
  public static final int INTERRUPTED = 130;

  /** Says all that is wrong with a command line, a sentence each, and otherwise runs it. */
  @Override
  public int execute(ParseResult parsed) {
    Integer shown = CommandLine.executeHelpRequest(parsed);
    if (shown != null) {
      return shown;
    }
    PrintWriter err = parsed.commandSpec().commandLine().getErr();
    Mistakes mistakes = ParseMistakes.of(parsed);
    if (mistakes.sentences().isEmpty()) {
      return run(parsed, err);
    }
    if (parsed.originalArgs().contains("--debug")) {
      mistakes.failures().forEach(failure -> failure.printStackTrace(err));
    }
    mistakes.sentences().forEach(sentence -> say(err, sentence));
    return WRONG_INPUT;
  }

  private static int run(ParseResult parsed, PrintWriter err) {
    String command = parsed.hasSubcommand() ? parsed.subcommand().commandSpec().name() : "";
    Progress progress = Progress.of(command, err);
    try {
      return new CommandLine.RunLast().execute(parsed);
    } finally {
      if (progress != null) {
        progress.close();
      }
    }
  }

  /** What no command has collected, such as that none was given. */
  @Override
  public int handleParseException(ParameterException exception, String[] args) {
    say(exception.getCommandLine().getErr(), String.valueOf(exception.getMessage()));
    return WRONG_INPUT;
  }

  private static void say(PrintWriter err, String sentence) {
    String line = sentence.replaceAll("\\s*\\R\\s*", " ");
    err.println("pipewright: " + line + (line.contains("; ") ? "" : "; correct it and run again"));
  }

  @Override
  public int handleExecutionException(Exception exception, CommandLine line, ParseResult parsed) {
    boolean debug = parsed.originalArgs().contains("--debug");
    return report(exception, line.getErr(), debug);
  }

  /** Words what stopped a command; returns the exit status. */
  public static int report(Throwable failure, PrintWriter err, boolean debug) {
    if (debug) {
      failure.printStackTrace(err);
    }
    String message = String.valueOf(failure.getMessage()).replaceAll("\\s*\\R\\s*", " ");
    if (failure instanceof BadInputException) {
      say(err, message);
      return WRONG_INPUT;
    }
    if (failure instanceof NotEnoughMemoryException) {
      err.println("pipewright: " + message);
      return NO;
    }
    if (failure instanceof TrainingInterruptedException) {
      err.println("pipewright: " + message);
      return INTERRUPTED;
    }
    if (failure instanceof UncheckedIOException unchecked) {
      @Nullable IOException cause = unchecked.getCause();
      String what = cause == null || !message.equals(cause.toString()) ? message : words(cause);
      String remedy = what.contains("; ") ? "" : "; check the path, its permissions and free space";
      err.println("pipewright: " + what + remedy);
      return WRONG_INPUT;
    }
    if (failure instanceof OutOfMemoryError) {
      err.println(
          "pipewright: the "
              + (Runtime.getRuntime().maxMemory() >> 20)
              + " MiB that Java may use are too few for this; give more in JAVA_TOOL_OPTIONS, like"
              + " -Xmx16g, or take a smaller batch, network or cluster");
      return BROKEN;
    }
    err.println(
        "pipewright: failed unexpectedly: "
            + failure.toString().replaceAll("\\s*\\R\\s*", " ")
            + (debug ? "" : "; --debug shows where"));
    return BROKEN;
  }

  /** A failure that nothing said more of, without names of classes. */
  private static String words(IOException failure) {
    String file = failure instanceof FileSystemException of ? of.getFile() + ": " : "";
    String reason = OutputFile.reason(failure);
    return file + (reason.isEmpty() ? "reading or writing failed" : reason);
  }
}
