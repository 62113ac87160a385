package dev.pipewright.formats.schedule;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.InputFile;
import dev.pipewright.formats.json.JsonFile;
import java.nio.file.Path;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/** What there is to check, judged by its content, and where a plan's stages stand in it. */
public final class CheckedFile {
  /** What can be checked. */
  public enum Kind {
    SCHEDULE_CSV,
    SCHEDULE_JSON,
    PLAN
  }

  private CheckedFile() {}

  /** Throws {@link BadInputException} where a file is nothing that can be checked. */
  public static Kind kind(Path file) {
    InputFile.check(file);
    if (file.toString().endsWith(".csv") || ScheduleCsv.isSchedule(file)) {
      return Kind.SCHEDULE_CSV;
    }
    int first = InputFile.first(file);
    if (first < 0) {
      return Kind.PLAN; // empty, as its reader says
    }
    if (first >= ' ' && first < 0x7F && first != '{') {
      throw neither(file);
    }
    return JsonFile.read(file, parser -> kind(file, parser));
  }

  private static Kind kind(Path file, JsonParser parser) {
    boolean plan = false;
    parser.nextToken();
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      String key = parser.currentName();
      if (key.equals("ranks")) {
        return Kind.SCHEDULE_JSON;
      }
      plan |= key.equals("plan") || key.equals("stages");
      parser.nextToken();
      parser.skipChildren();
    }
    if (!plan) {
      throw neither(file);
    }
    return Kind.PLAN;
  }

  /** The first byte that is neither blank nor part of a byte order mark; −1 where there is none. */
  private static BadInputException neither(Path file) {
    return BadInputException.at(
        file,
        1,
        "is neither a plan nor a schedule; give what `plan --out` or `schedule --json` wrote, or a"
            + " schedule in lines like 0F0,0B0");
  }
}
