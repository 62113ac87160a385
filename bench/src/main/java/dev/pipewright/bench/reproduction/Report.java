package dev.pipewright.bench.reproduction;

import dev.pipewright.bench.plot.Figure;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** What a reproduction found: text and tables in Markdown, and a figure. */
public final class Report {
  private final StringBuilder text = new StringBuilder();
  private final Map<String, String> files = new LinkedHashMap<>();
  private Optional<Figure> figure = Optional.empty();

  public Report(String title) {
    text.append("# ").append(title).append("\n\n");
  }

  public Report paragraph(String sentence) {
    text.append(sentence).append("\n\n");
    return this;
  }

  public Report heading(String words) {
    text.append("## ").append(words).append("\n\n");
    return this;
  }

  public Report table(Markdown table) {
    text.append(table).append('\n');
    return this;
  }

  public Report figure(Figure picture) {
    figure = Optional.of(picture);
    return this;
  }

  /** Adds what programs read; it is written only where {@code --files} asks for it. */
  public Report file(String name, String content) {
    files.put(name, content);
    return this;
  }

  /** Contents by name. */
  public Map<String, String> files() {
    return Map.copyOf(files);
  }

  public String markdown() {
    return text.toString();
  }

  public Optional<String> svg() {
    return figure.map(Figure::svg);
  }
}
