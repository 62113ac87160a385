package dev.pipewright.app.report.study;

import dev.pipewright.app.report.chart.Svg;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.predict.paradl.Strategy;

/**
 * How points of a strategy look: the colour says what a group shares out, the shape whether groups
 * also share out the samples (or how far ZeRO goes), hollow that it does not fit.
 */
final class StudyMark {
  private static final double RADIUS = 4;

  private StudyMark() {}

  /** The class that sets a strategy's colour. */
  static String style(Strategy strategy) {
    return switch (strategy.split()) {
      case NOTHING ->
          strategy.zeroStage() > 0
              ? "zero"
              : strategy.pipelined() ? "layers" : strategy == Strategy.SERIAL ? "serial" : "data";
      case FILTERS -> "filters";
      case CHANNELS -> "channels";
      case POSITIONS -> "positions";
      case HEADS -> "heads";
      case SEQUENCES -> "sequences";
      case TOKENS -> "tokens";
      case EXPERTS -> "experts";
    };
  }

  static void draw(Svg svg, Strategy strategy, double x, double y, boolean fits) {
    StringBuilder path = new StringBuilder();
    int corners = corners(strategy);
    double radius = corners == 3 ? RADIUS * 1.3 : corners == 4 ? RADIUS * 1.2 : RADIUS;
    double start = strategy.hybrid() ? Math.PI / 4 : 0;
    for (int corner = 0; corner < corners; corner++) {
      double angle = start + 2 * Math.PI * corner / corners;
      Numbers.appendShort(path.append(corner == 0 ? 'M' : 'L'), x + radius * Math.sin(angle));
      Numbers.appendShort(path.append(' '), y - radius * Math.cos(angle));
    }
    String paint = fits ? "fill=\"currentColor\"" : "class=\"hollow\"";
    svg.path(path.append('Z'), paint + " stroke=\"currentColor\" stroke-width=\"1.6\"");
  }

  /**
   * Squares for hybrids, hexagons for those of three kinds; triangle, diamond, pentagon for the
   * stages of ZeRO; else rounds.
   */
  private static int corners(Strategy strategy) {
    if (strategy.zeroStage() > 0) {
      return 2 + strategy.zeroStage();
    }
    return !strategy.hybrid() ? 24 : strategy.pipelined() && strategy.dividesBlocks() ? 6 : 4;
  }
}
