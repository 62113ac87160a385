package dev.pipewright.bench.plot;

import java.util.List;
import java.util.function.Function;

/** One pair of axes of a figure. */
public sealed interface Panel permits Lines, Dots {
  String title();

  /** Names of what it shows, for the legend. */
  List<String> series();

  /** Pixels from the top of its title to the bottom of its lowest label. */
  double height();

  /** Draws it with its upper left corner at a point. */
  void draw(Svg svg, double left, double top, double width, Function<String, Look> looks);

  /** Its heading. */
  default void heading(Svg svg, double left, double top) {
    svg.text(left, top + 14, "font-weight=\"600\"", title());
  }
}
