package dev.pipewright.formats.schedule;

import dev.pipewright.formats.file.InputFile;
import dev.pipewright.formats.json.JsonFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/** Where a plan's stages stand in its file. */
final class PlanStagePlaces {
  private static final Pattern STAGE = Pattern.compile("(/plan)?/stages/\\d+");

  private PlanStagePlaces() {}

  /** Positions of a plan's stages in its file, each for its whole program. */
  static OpPlaces of(Path plan) {
    if (InputFile.first(plan) != '{') { // of another program's format
      return OpPlaces.ofRanks(new int[0], new int[0]);
    }
    List<Integer> lines = new ArrayList<>();
    List<Integer> columns = new ArrayList<>();
    JsonFile.read(
        plan,
        parser -> {
          while (parser.nextToken() != null) {
            stage(parser, lines, columns);
          }
          return plan;
        });
    return OpPlaces.ofRanks(
        lines.stream().mapToInt(line -> line).toArray(),
        columns.stream().mapToInt(column -> column).toArray());
  }

  private static void stage(JsonParser parser, List<Integer> lines, List<Integer> columns) {
    boolean stage =
        parser.currentToken() == JsonToken.START_OBJECT
            && STAGE.matcher(parser.streamReadContext().pathAsPointer().toString()).matches();
    if (stage) {
      lines.add(parser.currentTokenLocation().getLineNr());
      columns.add(parser.currentTokenLocation().getColumnNr());
      parser.skipChildren();
    }
  }
}
