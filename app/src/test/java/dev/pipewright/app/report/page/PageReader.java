package dev.pipewright.app.report.page;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Reads back what the reports wrote. */
public final class PageReader {
  private PageReader() {}

  public static JsonNode json(String text) {
    return new JsonMapper().readTree(text);
  }

  /** The timeline that the page's script reads. */
  public static JsonNode data(String page) {
    String opening = "<script type=\"application/json\" id=\"data\">";
    int from = page.indexOf(opening) + opening.length();
    return json(page.substring(from, page.indexOf("</script", from)));
  }

  public static List<String> matches(String pattern, String text) {
    List<String> found = new ArrayList<>();
    var matcher = Pattern.compile(pattern).matcher(text);
    while (matcher.find()) {
      found.add(matcher.group());
    }
    return found;
  }
}
