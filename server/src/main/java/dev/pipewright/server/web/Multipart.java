package dev.pipewright.server.web;

import dev.pipewright.formats.file.BadInputException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A form with a file, as browsers send it (RFC 7578).
 *
 * @param fields by name, of which the first counts
 * @param file the first part that has a file's name; empty where none does, or it has neither name
 *     nor content, as where no file was chosen
 */
public record Multipart(Map<String, String> fields, Optional<Sent> file) {
  private static final int MOST_PARTS = 20;
  private static final int MOST_HEAD = 8 << 10; // bytes before a part's content
  private static final Pattern BOUNDARY =
      Pattern.compile(
          "multipart/form-data;.*boundary=\"?([A-Za-z0-9'()+_,./:=?-]{1,70})\"?.*",
          Pattern.CASE_INSENSITIVE);
  private static final Pattern NAME = Pattern.compile("[; ]name=\"([^\"\r\n]*)\"");
  private static final Pattern FILE = Pattern.compile("[; ]filename=\"([^\"\r\n]*)\"");
  private static final byte[] END_OF_HEAD = "\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1);

  /** A file as it was sent, with the name that the browser says. */
  public record Sent(String name, byte[] content) {}

  /** Reads a body; throws {@link BadInputException} where it is no such form. */
  static Multipart of(String type, byte[] body) {
    Matcher boundary = BOUNDARY.matcher(type);
    if (!boundary.matches()) {
      throw broken();
    }
    byte[] mark = ("--" + boundary.group(1)).getBytes(StandardCharsets.ISO_8859_1);
    Map<String, String> fields = new HashMap<>();
    Optional<Sent> file = Optional.empty();
    int at = find(body, mark, 0, body.length);
    for (int part = 0; at >= 0 && !ends(body, at + mark.length); part++) {
      int begin = at + mark.length;
      int end = find(body, mark, begin, body.length);
      int head = find(body, END_OF_HEAD, begin, Math.min(body.length, begin + MOST_HEAD));
      if (part == MOST_PARTS || end < 0 || head < 0 || head + END_OF_HEAD.length > end - 2) {
        throw broken();
      }
      String words = new String(body, begin, head - begin, StandardCharsets.UTF_8);
      byte[] content = Arrays.copyOfRange(body, head + END_OF_HEAD.length, end - 2);
      Matcher name = FILE.matcher(words);
      if (!name.find()) {
        fields.putIfAbsent(field(words), new String(content, StandardCharsets.UTF_8));
      } else if (file.isEmpty() && !(name.group(1).isEmpty() && content.length == 0)) {
        file = Optional.of(new Sent(decoded(name.group(1)), content));
      }
      at = end;
    }
    if (at < 0) {
      throw broken();
    }
    return new Multipart(fields, file);
  }

  private static String field(String head) {
    Matcher name = NAME.matcher(head);
    return name.find() ? name.group(1) : "";
  }

  /** As HTML writes quotes and ends of lines in names. */
  private static String decoded(String name) {
    return name.replace("%22", "\"").replace("%0D", " ").replace("%0A", " ");
  }

  private static boolean ends(byte[] body, int at) {
    return at + 1 < body.length && body[at] == '-' && body[at + 1] == '-';
  }

  private static int find(byte[] body, byte[] mark, int from, int to) {
    int last = to - mark.length;
    for (int at = from; at <= last; at++) {
      if (body[at] == mark[0] && Arrays.equals(body, at, at + mark.length, mark, 0, mark.length)) {
        return at;
      }
    }
    return -1;
  }

  private static BadInputException broken() {
    return new BadInputException("the form is not encoded as forms are; send it from the page");
  }
}
