package dev.pipewright.server.web;

import gg.jte.ContentType;
import gg.jte.TemplateEngine;
import gg.jte.output.StringOutput;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Fills templates, which were compiled with the program and escape what they are given. */
public final class Templates {
  private static final String PACKAGE = "dev.pipewright.server.template";

  private final TemplateEngine engine =
      TemplateEngine.createPrecompiled(
          null, ContentType.Html, Templates.class.getClassLoader(), PACKAGE);
  private List<Page.Entry> entries = List.of();

  /** Sets the navigation, once all pages are known. */
  public void navigation(List<Page.Entry> all) {
    entries = List.copyOf(all);
  }

  /**
   * A page.
   *
   * @param template its name without extension
   * @param path of its entry in the navigation; empty where it has none
   * @param parameters of the template by name
   */
  public String page(String template, String title, String path, Map<String, Object> parameters) {
    Map<String, Object> all = new HashMap<>(parameters);
    all.put("frame", new Frame(title, entries, path));
    return part(template, all);
  }

  /** A part of a page. */
  public String part(String template, Map<String, Object> parameters) {
    StringOutput out = new StringOutput();
    engine.render(template + ".jte", parameters, out);
    return out.toString();
  }
}
