package dev.pipewright.app.cli.terminal;

import dev.pipewright.app.cli.input.Mistakes;
import dev.pipewright.app.cli.input.OptionValues;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Suggestion;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.MaxValuesExceededException;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.OverwrittenOptionException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Words what the parser could not read. */
public final class ParseMistakes {
  private final Mistakes found = new Mistakes();
  private final ParseResult result;

  private ParseMistakes(ParseResult result) {
    this.result = result;
  }

  /** All that is wrong with a command line, also what its command says of the values. */
  public static Mistakes of(ParseResult result) {
    return new ParseMistakes(result).all();
  }

  private Mistakes all() {
    List<Exception> errors =
        result.asCommandLineList().stream()
            .flatMap(line -> line.getParseResult().errors().stream())
            .distinct()
            // A mistyped option is why another one is missing.
            .sorted(
                Comparator.comparing(
                    (Exception error) -> error instanceof MissingParameterException))
            .toList();
    List<String> refused = refused(errors);
    Set<ArgSpec> positions = new HashSet<>();
    for (Exception error : errors) {
      if (error instanceof ParameterException mistake
          && mistake.getArgSpec() instanceof PositionalParamSpec position
          && !position.isMultiValue()
          && !positions.add(position)) {
        continue; // a later word, which was tried in place of the first one that is wrong
      }
      found.failed(error);
      if (error instanceof ParameterException mistake) {
        add(mistake, refused);
      } else {
        found.add(String.valueOf(error.getMessage()));
      }
    }
    List<CommandLine> lines = result.asCommandLineList();
    if (lines.get(lines.size() - 1).getCommandSpec().userObject()
        instanceof Mistakes.Checked command) {
      try {
        command.check(found);
      } catch (BadInputException e) { // what it has to know before it can check more
        found.failed(e);
        found.add(String.valueOf(e.getMessage()));
      }
    }
    return found;
  }

  private void add(ParameterException mistake, List<String> refused) {
    CommandLine line = mistake.getCommandLine();
    if (mistake instanceof UnmatchedArgumentException unmatched) {
      unmatched(unmatched.getUnmatched().stream().filter(word -> !refused.contains(word)), line);
    } else if (mistake instanceof MissingParameterException missing) {
      missing(missing.getMissing(), line);
    } else {
      found.add(sentence(mistake, line));
    }
  }

  /** What was given to the command line and not understood by anyone. */
  private void unmatched(Stream<String> words, CommandLine line) {
    boolean value = false; // perhaps of the unknown option before it
    for (String word : (Iterable<String>) words::iterator) {
      if (word.startsWith("-") && word.length() > 1) {
        found.add(ForeignFlags.unknown(word, line));
        value = !word.contains("=");
      } else if (!value) {
        found.add(word(word, line));
        if (line.getParent() == null) {
          return; // without a command nothing after it has a meaning
        }
      } else {
        value = false;
      }
    }
  }

  /** A value that was refused is still there, where it looks like a word too many. */
  private static List<String> refused(List<Exception> errors) {
    return errors.stream()
        .filter(ParameterException.class::isInstance)
        .map(ParameterException.class::cast)
        .filter(mistake -> mistake.getArgSpec() instanceof PositionalParamSpec)
        .map(ParameterException::getValue)
        .filter(Objects::nonNull)
        .toList();
  }

  private static String word(String word, CommandLine line) {
    if (line.getParent() == null) {
      return "unknown command '"
          + word
          + "'; "
          + Suggestion.near(word, line.getSubcommands().keySet()).orElse(help(line));
    }
    return "'" + word + "' is one word too many; " + help(line);
  }

  private void missing(List<ArgSpec> missing, CommandLine line) {
    List<ArgSpec> ordered =
        missing.stream()
            .filter(arg -> !found.mentions(name(arg)))
            .sorted(Comparator.comparingInt(arg -> arg instanceof PositionalParamSpec ? 0 : 1))
            .toList();
    if (ordered.isEmpty() || (found.sentences().size() > 0 && unknownOption())) {
      return;
    }
    if (ordered.size() == 1 && result.originalArgs().contains(name(ordered.get(0)))) {
      found.add(name(ordered.get(0)) + ": has no value; write " + usage(ordered.get(0)));
      return;
    }
    String names = ordered.stream().map(ParseMistakes::name).collect(Collectors.joining(" and "));
    String usage = ordered.stream().map(ParseMistakes::usage).collect(Collectors.joining(" "));
    found.add(
        names
            + (ordered.size() == 1 ? " is" : " are")
            + " missing; write `"
            + line.getCommandSpec().qualifiedName()
            + (ordered.get(0) instanceof OptionSpec ? " … " : " ")
            + usage
            + "`");
  }

  /** Then what is missing may be what it was meant to be. */
  private boolean unknownOption() {
    return found.sentences().stream().anyMatch(sentence -> sentence.startsWith("unknown option"));
  }

  private static String sentence(ParameterException mistake, CommandLine line) {
    if (mistake instanceof OverwrittenOptionException twice) {
      return name(twice.getOverwritten()) + ": is given twice; keep one";
    }
    ArgSpec at = mistake.getArgSpec();
    if (mistake instanceof MaxValuesExceededException && at != null) {
      return name(at) + ": has more than one value; keep one";
    }
    if (at instanceof OptionSpec && at.arity().max() == 0) {
      return name(at) + ": takes no value; write " + name(at) + " alone";
    }
    if (at != null && mistake.getValue() != null) {
      return name(at) + ": " + OptionValues.complaint(at, mistake.getValue());
    }
    String message = String.valueOf(mistake.getMessage());
    return message.contains(";") ? message : message + "; " + help(line);
  }

  private static String name(ArgSpec arg) {
    return arg instanceof OptionSpec option ? option.longestName() : arg.paramLabel();
  }

  private static String usage(ArgSpec arg) {
    return arg instanceof OptionSpec option
        ? option.longestName() + " " + option.paramLabel()
        : arg.paramLabel();
  }

  static String help(CommandLine line) {
    return "`" + line.getCommandSpec().qualifiedName() + " --help` lists what there is";
  }
}
