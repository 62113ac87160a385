package dev.pipewright.app.cli;

import dev.pipewright.formats.BadInputException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Words failures: a sentence for a mistake, a stack trace only where somebody asked for one. */
final class Failures implements IParameterExceptionHandler, IExecutionExceptionHandler {
  static final int NO = 1;
  static final int WRONG_INPUT = 2;
  static final int BROKEN = 3;

  @Override
  public int handleParseException(ParameterException exception, String[] args) {
    CommandLine line = exception.getCommandLine();
    line.getErr().println("pipewright: " + sentence(exception));
    return WRONG_INPUT;
  }

  private static String sentence(ParameterException exception) {
    String message = String.valueOf(exception.getMessage()).replace("\n", " ");
    if (exception instanceof UnmatchedArgumentException unmatched) {
      List<String> near = unmatched.getSuggestions();
      String first = unmatched.getUnmatched().get(0);
      if (exception.getCommandLine().getParent() == null && !first.startsWith("-")) {
        message = "unknown command '" + first + "'";
      }
      message +=
          near.isEmpty()
              ? "; `"
                  + exception.getCommandLine().getCommandSpec().qualifiedName()
                  + " --help` lists what there is"
              : "; did you mean "
                  + String.join(" or ", near.subList(0, Math.min(2, near.size())))
                  + "?";
    }
    return message;
  }

  @Override
  public int handleExecutionException(Exception exception, CommandLine line, ParseResult parsed) {
    boolean debug = Arrays.asList(parsed.originalArgs().toArray()).contains("--debug");
    PrintWriter err = line.getErr();
    if (debug) {
      exception.printStackTrace(err);
    }
    if (exception instanceof BadInputException) {
      err.println("pipewright: " + exception.getMessage());
      return WRONG_INPUT;
    }
    if (exception instanceof UncheckedIOException) {
      err.println("pipewright: " + exception.getMessage() + "; check the path and its permissions");
      return WRONG_INPUT;
    }
    err.println(
        "pipewright: failed unexpectedly: " + exception + (debug ? "" : "; --debug shows where"));
    return BROKEN;
  }
}
