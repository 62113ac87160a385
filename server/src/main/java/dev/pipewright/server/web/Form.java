package dev.pipewright.server.web;

import dev.pipewright.formats.file.BadInputException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/** Reads what a browser sends of a form. */
public final class Form {
  private static final int MOST_FIELDS = 100;

  private Form() {}

  /** Fields by name, of which the first counts; throws {@link BadInputException}. */
  public static Map<String, String> of(byte[] body) {
    Map<String, String> fields = new LinkedHashMap<>();
    String text = new String(body, StandardCharsets.UTF_8);
    for (String pair : text.split("&", MOST_FIELDS + 1)) {
      if (fields.size() == MOST_FIELDS) {
        throw new BadInputException(
            "the form has more than %d fields; leave some out".formatted(MOST_FIELDS));
      }
      int equals = pair.indexOf('=');
      if (equals > 0) {
        fields.putIfAbsent(decoded(pair.substring(0, equals)), decoded(pair.substring(equals + 1)));
      }
    }
    return fields;
  }

  /** Fields as they stand in a link. */
  public static String query(Map<String, String> fields) {
    return fields.entrySet().stream()
        .map(field -> encoded(field.getKey()) + "=" + encoded(field.getValue()))
        .collect(Collectors.joining("&"));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  private static String decoded(String text) {
    try {
      return URLDecoder.decode(text, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw new BadInputException("the form is not encoded as forms are; send it from the page");
    }
  }
}
