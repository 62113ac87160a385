package dev.pipewright.formats.transformer;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.TextLines;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Megatron's arguments in a shell script, in its arrays, strings or command, or as the plain words
 * of a command line. No shell runs: variables have the values that the file assigns literally, and
 * what else a value depends on is refused by name.
 */
final class MegatronScript {
  private static final Pattern ASSIGNMENT = Pattern.compile("(?s)([A-Za-z_]\\w*)\\+?=(.*)");
  private static final Set<String> BEFORE_ASSIGNMENTS =
      Set.of("export", "local", "readonly", "declare", "set", "then", "else", "do");
  private static final int MOST_CHARACTERS = 1 << 20;
  private static final int DEEPEST = 4;

  private final ShellVariables variables = new ShellVariables();
  private final MegatronArguments arguments;

  private MegatronScript(Path file) {
    arguments = new MegatronArguments(file, variables::expand);
  }

  /** The arguments, which are expanded when they are asked for. */
  static MegatronArguments read(Path file) {
    return of(file, text(file));
  }

  /** The same of a text, which sentences about mistakes call {@code place}. */
  static MegatronArguments of(Path place, String text) {
    MegatronScript script = new MegatronScript(place);
    script.addWords(ShellWords.of(text, 1), 0);
    script.arguments.refuseMisspelled();
    return script.arguments;
  }

  private static String text(Path file) {
    StringBuilder text = new StringBuilder();
    try (TextLines lines = TextLines.open(file, "a list of Megatron arguments")) {
      for (@Nullable String line = lines.next(); line != null; line = lines.next()) {
        if (text.length() + line.length() > MOST_CHARACTERS) {
          throw BadInputException.at(
              file, lines.number(), "the file is longer than 1 MiB; give the arguments alone");
        }
        text.append(line).append('\n');
      }
    }
    return text.toString();
  }

  private void addWords(List<ShellWords.Word> words, int depth) {
    boolean starts = true; // of a command
    int open = 0;
    @Nullable String flag = null;
    for (ShellWords.Word word : words) {
      if (word.operator()) {
        open += word.text().equals("(") ? 1 : word.text().equals(")") ? -1 : 0;
        boolean joined = word.text().equals("\n") && open > 0; // a line of an array
        flag = joined ? flag : null;
        starts = !joined;
        continue;
      }
      Matcher assignment = ASSIGNMENT.matcher(word.text());
      if (starts && assignment.matches()) {
        assign(assignment.group(1), assignment.group(2), word.line(), depth);
        continue;
      }
      starts = starts && BEFORE_ASSIGNMENTS.contains(word.text());
      if (isQuotedFlag(word.text()) && depth < DEEPEST) {
        addWords(ShellWords.of(word.text(), word.line()), depth + 1);
        flag = null;
        continue;
      }
      if (word.text().startsWith("--") && word.text().length() > 2) {
        int equals = word.text().indexOf('=');
        String name = equals < 0 ? word.text() : word.text().substring(0, equals);
        flag = equals < 0 ? name : null;
        String value = equals < 0 ? "true" : word.text().substring(equals + 1);
        arguments.add(name, value, word.line());
      } else if (flag != null) {
        arguments.setLast(flag, word.text());
        flag = null;
      }
    }
  }

  /** {@code "--vocab-size 128256"}: flag and value in one word. */
  private static boolean isQuotedFlag(String word) {
    return word.startsWith("--") && word.chars().anyMatch(Character::isWhitespace);
  }

  private void assign(String name, String value, int line, int depth) {
    if (value.contains("--") && depth < DEEPEST) { // arguments in a string
      addWords(ShellWords.of(value, line), depth + 1);
    } else if (!value.isEmpty()) { // "(" follows an array's name
      variables.assign(name, value);
    }
  }
}
