package dev.pipewright.app.report.page;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;

/**
 * A page for the browser that loads nothing from anywhere: figures, a timeline that can be zoomed,
 * and sections below. The timeline is drawn by a script, which is part of the page; the rest are
 * plain elements.
 *
 * <p>The page is the resource {@code report.html}, whose placeholders {@code {{name}}} are
 * replaced.
 *
 * @param generator which tells whose file it is
 * @param subject below the title, as markup
 * @param figures as markup
 * @param heading of the timeline
 * @param hint what its numbers are
 * @param timeline what it shows, as JSON for the script; empty where there is none
 * @param sections below it, as markup
 */
public record HtmlPage(
    String generator,
    String title,
    String subject,
    String figures,
    String heading,
    String hint,
    Optional<String> timeline,
    String sections) {
  private static final String[] SCRIPTS = {"view.js", "lanes.js", "memory.js", "controls.js"};

  /** Appends the document part by part, since that of a long run is large. */
  public void write(Appendable out) throws IOException {
    Map<String, String> values =
        Map.ofEntries(
            Map.entry("generator", generator),
            Map.entry("title", Markup.of(title)),
            Map.entry("style", resource("report.css")),
            Map.entry("subject", subject),
            Map.entry("figures", figures),
            Map.entry("hide", timeline.isPresent() ? "" : "hidden"),
            Map.entry("heading", heading),
            Map.entry("hint", Markup.of(hint)),
            Map.entry("sections", sections),
            Map.entry("script", timeline.isPresent() ? scripts() : ""),
            Map.entry("data", timeline.orElse("null")));
    fill(resource("report.html"), values, out);
  }

  private static String scripts() {
    StringBuilder out = new StringBuilder();
    for (String script : SCRIPTS) {
      out.append(resource(script));
    }
    return out.toString();
  }

  /** Replaces each {@code {{name}}} once; what it inserts is not looked at again. */
  public static String fill(String page, Map<String, String> values) {
    StringBuilder out = new StringBuilder(page.length() * 2);
    try {
      fill(page, values, out);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return out.toString();
  }

  private static void fill(String page, Map<String, String> values, Appendable out)
      throws IOException {
    int from = 0;
    for (int open = page.indexOf("{{"); open >= 0; open = page.indexOf("{{", from)) {
      int close = page.indexOf("}}", open);
      String name = page.substring(open + 2, close);
      String value = values.get(name);
      if (value == null) {
        throw new IllegalStateException("the page names an unknown part: name=" + name);
      }
      out.append(page, from, open).append(value);
      from = close + 2;
    }
    out.append(page, from, page.length());
  }

  public static String resource(String name) {
    try (InputStream in = HtmlPage.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("a part of the page is missing: resource=" + name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
