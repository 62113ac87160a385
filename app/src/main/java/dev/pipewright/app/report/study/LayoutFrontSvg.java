package dev.pipewright.app.report.study;

import dev.pipewright.app.report.chart.FrontSvg;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.predict.transformer.search.LayoutSurvey;
import dev.pipewright.predict.transformer.search.RankedLayout;
import dev.pipewright.units.Units;
import java.util.List;

/**
 * Seconds of a step against bytes of a device, both logarithmic: the layouts of a transformer that
 * no other on as many devices excels in both.
 */
public final class LayoutFrontSvg {
  private static final String TITLE = "Time against memory of the best layouts";
  private static final String HINT =
      "Both logarithmic, down and left is better; steps join layouts on as many devices.";

  private LayoutFrontSvg() {}

  /**
   * The picture as an SVG document.
   *
   * @param surveys one for each number of devices
   * @param subject what was searched
   */
  public static String of(List<LayoutSurvey> surveys, String subject) {
    return FrontSvg.of(TITLE, HINT, subject, surveys.stream().map(LayoutFrontSvg::series).toList());
  }

  private static FrontSvg.Series series(LayoutSurvey survey) {
    return new FrontSvg.Series(
        Words.count(survey.space().devices(), "device"),
        survey.front().stream()
            .map(each -> new FrontSvg.Point(each.seconds(), each.bytes(), tip(each)))
            .toList());
  }

  private static String tip(RankedLayout ranked) {
    return "%s, %s: %s, ZeRO %d, micro-batch %d, recompute %s, %s offloaded"
        .formatted(
            Units.seconds(ranked.seconds()),
            Numbers.bytes(ranked.bytes()),
            ranked.searched().layout().strategy(),
            ranked.searched().layout().zero(),
            ranked.searched().layout().microBatch(),
            ranked.searched().recompute().word(),
            Words.count(ranked.searched().offloadedLayers(), "layer"));
  }
}
