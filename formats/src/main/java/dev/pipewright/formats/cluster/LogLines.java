package dev.pipewright.formats.cluster;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.TextLines;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The lines of a log without what others added to them: terminal escapes, and in front of each line
 * time stamps ({@code kubectl logs --timestamps}, {@code ts}), tags ({@code [0]}, {@code
 * [1,0]<stdout>:}, {@code [pod/name/container]}) and labels ({@code 0:} of {@code srun --label},
 * {@code node1:} of {@code pdsh}, {@code name |} of {@code docker compose}), in any order and
 * number. Any other text in front of the headings of a table is taken off the lines that begin with
 * it.
 */
final class LogLines {
  private static final int MOST_LINES = 200_000;
  private static final long MOST_CHARACTERS = 64L << 20;

  private static final Pattern ESCAPE =
      Pattern.compile(
          "\u001B(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^\u0007\u001B]*(?:\u0007|\u001B\\\\)|.)");
  private static final Pattern CONTROL = Pattern.compile("[\\p{Cntrl}&&[^\t]]");

  private static final String DATE_AND_TIME =
      "\\d{4}[-/]\\d\\d[-/]\\d\\d[T ]\\d\\d:\\d\\d:\\d\\d(?:[.,]\\d+)?(?:Z|[+-]\\d\\d:?\\d\\d)?";
  private static final String CALENDAR_DAY =
      "(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +)?"
          + "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\\d{1,2} \\d\\d:\\d\\d:\\d\\d"
          + "(?:[.,]\\d+)?(?: [A-Z]{2,5})?(?: \\d{4})?";
  private static final String STREAM = "<std(?:out|err|diag)>:?";
  private static final String NAME = "[\\w.@/-]{1,200}";

  /** A time stamp with its date. */
  static final Pattern STAMP = Pattern.compile(DATE_AND_TIME);

  /** What brackets enclose, and perhaps the stream's name. */
  static final Pattern TAG =
      Pattern.compile("\\[[^\\[\\]]{1,200}\\](?:" + STREAM + "|:(?!\\d))?|" + STREAM);

  private static final Pattern PREFIX =
      Pattern.compile(
          "\\s*(?:(?:"
              + DATE_AND_TIME
              + "|"
              + CALENDAR_DAY
              + "|\\d\\d:\\d\\d:\\d\\d(?:[.,]\\d+)?)(?:"
              + STREAM
              + "|[:|](?=[\\s#]|$))?(?=[\\s#\\[]|$|\\d)|"
              + TAG
              + "|"
              + NAME
              + "(?::|\\s+\\|)(?=[\\s#]|$))");

  /** The headings of nccl-tests, or the title of an OSU test. */
  private static final Pattern HEADING =
      Pattern.compile("#\\s*(?:(?:size|bytes)\\s.*\\balgbw\\b|OSU\\s.*\\bTest\\b)");

  private final List<LogLine> lines = new ArrayList<>();

  private LogLines() {}

  /** The lines that are not blank; throws {@link BadInputException}. */
  static List<LogLine> read(Path file, String kind) {
    LogLines log = new LogLines();
    long characters = 0;
    try (TextLines text = TextLines.openLog(file, kind)) {
      for (String line = text.next(); line != null; line = text.next()) {
        characters += line.length();
        if (text.number() > MOST_LINES || characters > MOST_CHARACTERS) {
          throw BadInputException.at(
              file,
              text.number(),
              "has more than 200,000 lines or 64 MiB of text; keep the tables only");
        }
        log.add(text.number(), line);
      }
    }
    return log.withoutConstantPrefix();
  }

  private void add(int number, String line) {
    String text =
        CONTROL.matcher(ESCAPE.matcher(line).replaceAll("")).replaceAll("").stripTrailing();
    if (text.isBlank()) {
      return;
    }
    Matcher prefix = PREFIX.matcher(text);
    int end = 0;
    while (prefix.region(end, text.length()).lookingAt() && prefix.end() > end) {
      end = prefix.end();
    }
    lines.add(new LogLine(number, text, text.substring(0, end), text.substring(end)));
  }

  /** Takes off what stands in front of the {@code #} of headings, which nothing above knows. */
  private List<LogLine> withoutConstantPrefix() {
    Set<String> constants = new LinkedHashSet<>();
    for (LogLine line : lines) {
      Matcher heading = HEADING.matcher(line.body());
      if (heading.find() && !line.body().startsWith("#")) {
        constants.add(line.body().substring(0, heading.start()));
      }
    }
    constants.removeIf(String::isBlank);
    if (constants.isEmpty()) {
      return lines;
    }
    return lines.stream()
        .map(line ->
            constants.stream()
                .filter(line.body()::startsWith)
                .findFirst()
                .map(constant ->
                    new LogLine(
                        line.number(),
                        line.text(),
                        line.prefix() + constant,
                        line.body().substring(constant.length())))
                .orElse(line))
        .toList();
  }
}
