package dev.pipewright.formats.json;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.InputFile;
import dev.pipewright.formats.file.TextLines;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.TokenStreamContext;
import tools.jackson.core.TokenStreamLocation;

/** Says in our words what keeps a text from being JSON: the parser's are for programmers. */
final class JsonMistake {
  /**
   * What is said for what the parser says.
   *
   * @param parsers begins what it says, or stands in it
   * @param ours with {@code $1} for the first group of that
   */
  private record Words(Pattern parsers, String ours) {
    static Words of(String parsers, String ours) {
      return new Words(Pattern.compile(parsers), ours);
    }
  }

  private static final Pattern NO_TEXT = Pattern.compile("UTF-8|UTF-16|UTF-32|CTRL-CHAR");

  /** The first that fits counts. */
  private static final List<Words> WORDS =
      List.of(
          Words.of(
              "nesting depth \\(\\d+\\) exceeds the maximum allowed \\((\\d+)",
              "lists and objects nest more than $1 deep; flatten them"),
          Words.of(
              "(?:Number|String|Name) .*length .*exceeds the maximum allowed \\((\\d+)",
              "a number, name or text is longer than $1 characters; shorten it"),
          Words.of(
              "(?:Unrecognized|Non-standard) token '([^']{0,40})",
              "'$1' is no value of JSON; write a number, or text in double quotes"),
          Words.of(
              "close marker '(.)': expected '(.)'",
              "'$1' stands where '$2' should; close what is open"),
          Words.of("close marker '(.)': no open", "'$1' closes what nothing opened; remove it"),
          Words.of(
              "[Nn]umeric value|number|Leading zeroes|[Dd]ecimal point|Exponent|minus sign|plus sign",
              "this is no number as JSON writes one; write it like 0.5 or 16e9"),
          Words.of(
              "Illegal unquoted character",
              "a text holds a line end or another control character; close its quotes before"),
          Words.of(
              "escape|surrogate",
              "a backslash stands before what it cannot escape; write two for one backslash"),
          Words.of("comment", "JSON has no comments; remove it"),
          Words.of(
              "\\('(.)' \\(code.*(?:comma|end marker)",
              "'$1' stands where a comma or an end should; add the comma"),
          Words.of("\\('(.)' \\(code.*colon", "'$1' stands where a colon should; add the colon"),
          Words.of(
              "\\('(.)' \\(code.*start property name",
              "'$1' stands where a name in double quotes should; add it or remove the comma before"),
          Words.of(
              "\\('(.)' \\(code",
              "'$1' begins no value of JSON; write a number, text in double quotes, [ or {"));

  private JsonMistake() {}

  /** The mistake of a file of which nothing is read yet. */
  static BadInputException of(Path file, JacksonException e) {
    return e.getCause() instanceof IOException cause
        ? InputFile.unreadable(file, cause)
        : BadInputException.at(file, 1, sentence(e));
  }

  static BadInputException of(Path file, JacksonException e, JsonParser parser) {
    if (e.getCause() instanceof IOException) {
      return of(file, e);
    }
    String parsers = String.valueOf(e.getOriginalMessage());
    if (parsers.startsWith("Unexpected end-of-input")) {
      return at(
          file,
          parser.currentLocation(),
          "the file ends inside " + place(parser) + "; write it again");
    }
    if (NO_TEXT.matcher(parsers).find()) {
      TextLines.check(file, "a JSON file");
    }
    boolean placed = e.getLocation() != null && e.getLocation().getLineNr() > 0;
    return at(file, placed ? e.getLocation() : parser.currentLocation(), sentence(e));
  }

  private static BadInputException at(Path file, TokenStreamLocation at, String sentence) {
    return BadInputException.at(
        file, Math.max(1, at.getLineNr()), Math.max(1, at.getColumnNr()), sentence);
  }

  private static String sentence(JacksonException e) {
    for (Words words : WORDS) {
      Matcher said = words.parsers().matcher(String.valueOf(e.getOriginalMessage()));
      if (said.find()) {
        String first = said.groupCount() > 0 ? said.group(1) : "";
        String second = said.groupCount() > 1 ? said.group(2) : "";
        return words.ours().replace("$2", second).replace("$1", first);
      }
    }
    return "this is not JSON; correct it or what stands before it";
  }

  /** {@code ranks[1][5]}: the value that the parser is in. */
  private static String place(JsonParser parser) {
    JsonToken last = parser.currentToken();
    boolean behind = last == JsonToken.END_ARRAY || last == JsonToken.END_OBJECT;
    StringBuilder place = new StringBuilder();
    TokenStreamContext at = parser.streamReadContext();
    at = behind && !at.inRoot() ? at.getParent() : at; // after its last value
    for (; !at.inRoot(); at = at.getParent()) {
      if (at.inObject() && at.currentName() != null) {
        place.insert(0, "." + at.currentName());
      } else if (at.inArray()) {
        place.insert(0, "[" + Math.max(0, at.getCurrentIndex()) + "]");
      }
    }
    return place.isEmpty() ? "its object" : place.substring(place.charAt(0) == '.' ? 1 : 0);
  }
}
