package dev.pipewright.app.report.study;

import dev.pipewright.app.report.chart.ChartHead;
import dev.pipewright.app.report.chart.Svg;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.predict.transformer.search.HeatCell;
import dev.pipewright.predict.transformer.search.LayoutSurvey;
import dev.pipewright.predict.transformer.search.RankedLayout;
import dev.pipewright.units.Units;
import java.util.List;

/**
 * A heat map: seconds of the fastest layout for each tensor degree (down) and pipeline degree
 * (across). The fuller the colour, the nearer to the fastest of all.
 */
public final class FastestLayoutsSvg {
  private static final double MARGIN = 24;
  private static final double LEFT = 76;
  private static final double CELL = 74;
  private static final double ROW = 34;
  private static final double LEAST_WIDTH = 560;
  private static final double FADED = 3; // times the fastest: no colour
  private static final String TITLE = "Fastest layout by tensor and pipeline degree";

  private FastestLayoutsSvg() {}

  /**
   * The picture as an SVG document.
   *
   * @param subject what was searched
   */
  public static String of(LayoutSurvey survey, String subject) {
    List<Integer> pipelines = survey.space().values().pipeline();
    List<Integer> tensors = survey.space().values().tensor();
    double width = Math.max(LEAST_WIDTH, LEFT + CELL * pipelines.size() + MARGIN);
    String where = subject + ", " + Words.count(survey.space().devices(), "device");
    String hint = "Seconds of a step; fuller colours are faster, empty: none fits.";
    ChartHead head = new ChartHead(where, TITLE, hint, width - 2 * MARGIN);
    double top = head.height() + 40;
    double height = top + ROW * tensors.size() + MARGIN;
    Svg svg = Svg.styled(width, height, TITLE + ": " + where, ChartHead.style());
    head.draw(svg, MARGIN);
    words(svg, LEFT, top - 24, "start", "pipeline degree");
    words(svg, MARGIN, top - 8, "start", "tensor");
    for (int p = 0; p < pipelines.size(); p++) {
      words(svg, LEFT + CELL * (p + 0.5), top - 8, "middle", pipelines.get(p).toString());
    }
    double least =
        survey.heat().stream()
            .flatMap(cell -> cell.best().stream())
            .mapToDouble(RankedLayout::seconds)
            .min()
            .orElse(1);
    for (int t = 0; t < tensors.size(); t++) {
      double y = top + ROW * t;
      words(svg, LEFT - 12, y + ROW / 2 + 4, "end", tensors.get(t).toString());
      for (int p = 0; p < pipelines.size(); p++) {
        HeatCell cell = survey.heat().get(t * pipelines.size() + p);
        cell(svg, cell, LEFT + CELL * p, y, least);
      }
    }
    return svg.end();
  }

  private static void words(Svg svg, double x, double y, String anchor, String words) {
    svg.text(x, y, "font-size=\"12\" class=\"soft\" text-anchor=\"" + anchor + '"', words);
  }

  private static void cell(Svg svg, HeatCell cell, double x, double y, double least) {
    svg.rect(x + 1, y + 1, CELL - 2, ROW - 2, "class=\"plot\"");
    if (cell.best().isEmpty()) {
      return;
    }
    RankedLayout best = cell.best().get();
    double slower = Math.log(best.seconds() / least) / Math.log(FADED);
    StringBuilder full = new StringBuilder();
    Numbers.appendShort(full, Math.max(0.02, 0.6 * (1 - slower)));
    svg.open("class=\"data\"");
    svg.rect(
        x + 1,
        y + 1,
        CELL - 2,
        ROW - 2,
        "fill=\"currentColor\" fill-opacity=\"" + full + '"',
        "tensor %d, pipeline %d: %s, %s"
            .formatted(
                cell.tensor(),
                cell.pipeline(),
                Units.seconds(best.seconds()),
                Numbers.bytes(best.bytes())));
    svg.close();
    svg.text(
        x + CELL / 2,
        y + ROW / 2 + 4,
        "font-size=\"12\" class=\"ink\" text-anchor=\"middle\" pointer-events=\"none\"",
        Units.seconds(best.seconds()));
  }
}
