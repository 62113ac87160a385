package dev.pipewright.bench.plot;

import java.util.ArrayList;
import java.util.List;

/** Panels under a title and one legend; a series of the same name looks the same in all. */
public final class Figure {
  private static final double MARGIN = 24;
  private static final double GAP = 26;
  private static final double LEGEND_LINE = 22;

  private final String title;
  private final double width;
  private final int columns;
  private final List<Panel> panels = new ArrayList<>();
  private final List<String> names = new ArrayList<>();

  /** Panels fill rows of {@code columns}. */
  public Figure(String title, double width, int columns) {
    this.title = title;
    this.width = width;
    this.columns = columns;
  }

  public Figure add(Panel panel) {
    panels.add(panel);
    for (String name : panel.series()) {
      if (!names.contains(name)) {
        names.add(name);
      }
    }
    return this;
  }

  private Look look(String name) {
    return Look.of(names.indexOf(name));
  }

  /** The picture as an SVG document. */
  public String svg() {
    double[][] places = legendPlaces();
    double legendEnd = names.isEmpty() ? 56 : places[names.size() - 1][1] + 24;
    double bottom = legendEnd;
    for (int first = 0; first < panels.size(); first += columns) {
      bottom += rowHeight(first) + GAP;
    }
    Svg svg = new Svg(width, bottom, title);
    svg.text(MARGIN, 34, "font-size=\"17\" font-weight=\"600\"", title);
    for (int i = 0; i < names.size(); i++) {
      look(names.get(i)).mark(svg, places[i][0] + 6, places[i][1]);
      svg.text(places[i][0] + 18, places[i][1] + 4.5, "", names.get(i));
    }
    double top = legendEnd;
    double each = (width - 2 * MARGIN - GAP * (columns - 1)) / columns;
    for (int i = 0; i < panels.size(); i++) {
      double left = MARGIN + i % columns * (each + GAP);
      panels.get(i).draw(svg, left, top, each, this::look);
      if (i % columns == columns - 1) {
        top += rowHeight(i - columns + 1) + GAP;
      }
    }
    return svg.end();
  }

  private double rowHeight(int first) {
    double most = 0;
    for (int i = first; i < Math.min(panels.size(), first + columns); i++) {
      most = Math.max(most, panels.get(i).height());
    }
    return most;
  }

  /** Left edge and middle height of each entry, in lines as wide as the picture. */
  private double[][] legendPlaces() {
    double[][] places = new double[names.size()][2];
    double x = MARGIN;
    double y = 60;
    for (int i = 0; i < places.length; i++) {
      double wide = 18 + Svg.width(names.get(i), 13) + 22;
      if (x > MARGIN && x + wide > width - MARGIN) {
        x = MARGIN;
        y += LEGEND_LINE;
      }
      places[i][0] = x;
      places[i][1] = y;
      x += wide;
    }
    return places;
  }
}
