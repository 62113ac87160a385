package dev.pipewright.bench;

import dev.pipewright.bench.plot.Figure;
import java.util.Optional;

/** What a reproduction found: text and tables in Markdown, and a figure. */
final class Report {
  private final StringBuilder text = new StringBuilder();
  private Optional<Figure> figure = Optional.empty();

  Report(String title) {
    text.append("# ").append(title).append("\n\n");
  }

  Report paragraph(String sentence) {
    text.append(sentence).append("\n\n");
    return this;
  }

  Report heading(String words) {
    text.append("## ").append(words).append("\n\n");
    return this;
  }

  Report table(Markdown table) {
    text.append(table).append('\n');
    return this;
  }

  Report figure(Figure picture) {
    figure = Optional.of(picture);
    return this;
  }

  String markdown() {
    return text.toString();
  }

  Optional<String> svg() {
    return figure.map(Figure::svg);
  }
}
