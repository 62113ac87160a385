package dev.pipewright.app.cli;

import dev.pipewright.formats.BadInputException;
import dev.pipewright.formats.OutputFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.MaxValuesExceededException;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.OverwrittenOptionException;
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
    String sentence = sentence(exception, line, args).replaceAll("\\s*\\R\\s*", " ");
    line.getErr().println("pipewright: " + sentence);
    return WRONG_INPUT;
  }

  private static String sentence(ParameterException exception, CommandLine line, String[] args) {
    if (exception instanceof UnmatchedArgumentException unmatched) {
      return unmatched(unmatched.getUnmatched().get(0), line);
    }
    if (exception instanceof MissingParameterException missing) {
      // A mistyped option is why another one is missing.
      for (CommandLine part = line; part != null; part = part.getParent()) {
        List<String> unknown = part.getUnmatchedArguments();
        if (!unknown.isEmpty()) {
          return unmatched(unknown.get(0), part);
        }
      }
      return missing(missing.getMissing(), line, args);
    }
    if (exception instanceof OverwrittenOptionException twice) {
      return name(twice.getOverwritten()) + ": is given twice; keep one";
    }
    ArgSpec at = exception.getArgSpec();
    if (exception instanceof MaxValuesExceededException && at != null) {
      return name(at) + ": has more than one value; keep one";
    }
    if (at instanceof OptionSpec && at.arity().max() == 0) {
      return name(at) + ": takes no value; write " + name(at) + " alone";
    }
    if (at != null && exception.getValue() != null) {
      return name(at) + ": " + Values.complaint(at, exception.getValue());
    }
    String message = String.valueOf(exception.getMessage());
    return message.contains(";") ? message : message + "; " + help(line);
  }

  private static String unmatched(String word, CommandLine line) {
    List<String> options =
        line.getCommandSpec().options().stream().map(OptionSpec::longestName).toList();
    if (word.startsWith("-")) {
      String option = word.contains("=") ? word.substring(0, word.indexOf('=')) : word;
      return "unknown option '"
          + option
          + "'; "
          + Suggestion.near(option, options).orElse(help(line));
    }
    if (line.getParent() == null) {
      return "unknown command '"
          + word
          + "'; "
          + Suggestion.near(word, line.getSubcommands().keySet()).orElse(help(line));
    }
    return "'" + word + "' is one word too many; " + help(line);
  }

  private static String missing(List<ArgSpec> missing, CommandLine line, String[] args) {
    if (missing.size() == 1 && Arrays.asList(args).contains(name(missing.get(0)))) {
      return name(missing.get(0)) + ": has no value; write " + usage(missing.get(0));
    }
    List<ArgSpec> ordered =
        missing.stream()
            .sorted(Comparator.comparingInt(arg -> arg instanceof PositionalParamSpec ? 0 : 1))
            .toList();
    String names = ordered.stream().map(Failures::name).collect(Collectors.joining(" and "));
    String usage = ordered.stream().map(Failures::usage).collect(Collectors.joining(" "));
    return names
        + (ordered.size() == 1 ? " is" : " are")
        + " missing; write `"
        + line.getCommandSpec().qualifiedName()
        + (line.getParseResult() != null && ordered.get(0) instanceof OptionSpec ? " … " : " ")
        + usage
        + "`";
  }

  private static String name(ArgSpec arg) {
    return arg instanceof OptionSpec option ? option.longestName() : arg.paramLabel();
  }

  private static String usage(ArgSpec arg) {
    return arg instanceof OptionSpec option
        ? option.longestName() + " " + option.paramLabel()
        : arg.paramLabel();
  }

  /** A failure that nothing said more of, without names of classes. */
  private static String words(IOException failure) {
    String file = failure instanceof FileSystemException of ? of.getFile() + ": " : "";
    String reason = OutputFile.reason(failure);
    return file + (reason.isEmpty() ? "reading or writing failed" : reason);
  }

  private static String help(CommandLine line) {
    return "`" + line.getCommandSpec().qualifiedName() + " --help` lists what there is";
  }

  @Override
  public int handleExecutionException(Exception exception, CommandLine line, ParseResult parsed) {
    boolean debug = parsed.originalArgs().contains("--debug");
    return report(exception, line.getErr(), debug);
  }

  /** Words what stopped a command; returns the exit status. */
  static int report(Throwable failure, PrintWriter err, boolean debug) {
    if (debug) {
      failure.printStackTrace(err);
    }
    String message = String.valueOf(failure.getMessage()).replaceAll("\\s*\\R\\s*", " ");
    if (failure instanceof BadInputException) {
      err.println(
          "pipewright: " + message + (message.contains("; ") ? "" : "; correct it and run again"));
      return WRONG_INPUT;
    }
    if (failure instanceof UncheckedIOException unchecked) {
      IOException cause = unchecked.getCause();
      boolean worded = !message.equals(cause.toString());
      err.println(
          "pipewright: "
              + (worded ? message : words(cause))
              + "; check the path, its permissions and free space");
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
}
