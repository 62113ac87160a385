package dev.pipewright.app.report;

import dev.pipewright.planner.Planning;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.units.Units;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * A plan as one page for the browser that loads nothing from anywhere. Figures, tables and bars are
 * plain elements; the timeline is drawn by a script, which is part of the page.
 *
 * <p>The page is the resource {@code report.html}, whose placeholders {@code {{name}}} are
 * replaced.
 */
public final class HtmlReport {
  private static final String[] SCRIPTS = {"view.js", "lanes.js", "memory.js", "controls.js"};

  private HtmlReport() {}

  /** The whole document. */
  public static String of(Picture picture) {
    StringBuilder page = new StringBuilder();
    try {
      write(picture, page);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return page.toString();
  }

  /** Appends the document part by part, since that of a long step is large. */
  public static void write(Picture picture, Appendable out) throws IOException {
    fill(resource("report.html"), values(picture), out);
  }

  private static Map<String, String> values(Picture picture) {
    Planning planning = picture.planning();
    boolean drawn = picture.timeline().isPresent();
    return Map.ofEntries(
        Map.entry("title", Markup.of(picture.title())),
        Map.entry("style", resource("report.css")),
        Map.entry("script", drawn ? scripts() : ""),
        Map.entry("hide", drawn ? "" : "hidden"),
        Map.entry("rhythm", Markup.of(rhythm(planning))),
        Map.entry("figures", HtmlSections.figures(picture)),
        Map.entry("stages", stages(planning)),
        Map.entry("occupation", drawn ? HtmlSections.occupations(picture.timeline().get()) : ""),
        Map.entry("rivals", HtmlSections.rivals(planning)),
        Map.entry(
            "alternatives", HtmlSections.table(Tables.alternatives(planning, 50, 60), "plans")),
        Map.entry("binding", Markup.of(Words.glue(planning.binding()))),
        Map.entry("runner", Markup.of(Words.glue(runnerUp(planning)))),
        Map.entry("planned", Markup.of(Words.glue(TerminalReport.planned(picture)))),
        Map.entry("provenance", Markup.of(picture.provenance())),
        Map.entry(
            "data",
            drawn ? TimelineData.of(picture.timeline().get(), picture.capacities()) : "null"));
  }

  private static String rhythm(Planning planning) {
    if (planning.best().isEmpty()) {
      return "Nothing fits.";
    }
    Candidate best = planning.best().get();
    return best.kind()
        + ": "
        + Words.count(best.plan().stages().size(), "stage")
        + ", "
        + Words.rhythm(best.plan());
  }

  private static String stages(Planning planning) {
    return planning.best().isEmpty()
        ? ""
        : HtmlSections.table(Tables.stages(planning.best().get(), 80), "stages")
            + HtmlSections.table(MemoryTable.of(Picture.decisive(planning.best().get())), "memory");
  }

  private static String runnerUp(Planning planning) {
    if (planning.runnerUp().isEmpty()) {
      return "none was found";
    }
    Candidate second = planning.runnerUp().get();
    return second.kind()
        + " "
        + Words.shape(second.plan(), 200)
        + ": "
        + Units.seconds(second.seconds())
        + ", "
        + Tables.against(planning, 1);
  }

  /** Replaces each {@code {{name}}} once; what it inserts is not looked at again. */
  static String fill(String page, Map<String, String> values) {
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

  private static String scripts() {
    StringBuilder out = new StringBuilder();
    for (String script : SCRIPTS) {
      out.append(resource(script));
    }
    return out.toString();
  }

  static String resource(String name) {
    try (InputStream in = HtmlReport.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("a part of the page is missing: resource=" + name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
