package dev.pipewright.formats.transformer;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.TextLines;
import java.nio.file.Path;
import java.util.OptionalInt;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Megatron's arguments in the log of a run, which lists all of them at its start: {@code num_layers
 * ........ 32}. Lines may begin with a rank. Of several lists the first counts.
 *
 * @param arguments what the log lists
 * @param vocabulary the padded vocabulary, which a later line says
 */
record MegatronLog(MegatronArguments arguments, OptionalInt vocabulary) {
  private static final Pattern ARGUMENT =
      Pattern.compile("(?:^|[\\s\\]:])([a-z][a-z0-9_]*) \\.{3,} (.*)");
  private static final Pattern END = Pattern.compile("-{4,} end of arguments -{4,}");
  private static final Pattern PADDED =
      Pattern.compile("padded vocab \\(size: \\d+\\).*\\(new size: (\\d{1,9})\\)");

  static MegatronLog read(Path file) {
    MegatronArguments arguments = new MegatronArguments(file, UnaryOperator.identity());
    OptionalInt vocabulary = OptionalInt.empty();
    boolean ended = false;
    try (TextLines lines = TextLines.openLog(file, "a log of Megatron")) {
      for (@Nullable String line = lines.next();
          line != null && vocabulary.isEmpty();
          line = lines.next()) {
        Matcher argument = ARGUMENT.matcher(line);
        Matcher padded = PADDED.matcher(line);
        if (!ended && argument.find()) {
          arguments.add(argument.group(1), argument.group(2).strip(), lines.number());
        } else if (padded.find()) {
          vocabulary = OptionalInt.of(Integer.parseInt(padded.group(1)));
        }
        ended |= END.matcher(line).find();
      }
    }
    if (arguments.isEmpty()) {
      throw BadInputException.at(
          file, 1, "lists no arguments; give the log from its start, or the script");
    }
    return new MegatronLog(arguments, vocabulary);
  }
}
