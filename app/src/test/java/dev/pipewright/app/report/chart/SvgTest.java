package dev.pipewright.app.report.chart;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class SvgTest {
  @Test
  void aFileShrinksWithItsWindowAndAPartOfAPageFollowsThePage() {
    String file = Svg.styled(1164, 500, "a title", "").end();
    assertTrue(
        file.contains(
            " style=\"max-width:max(100%,720px);height:auto\" width=\"1164\" height=\"500\" viewBox=\"0 0 1164 500\" "),
        file);
    assertFalse(Svg.inPage(1164, 500, "a title").end().contains(" style="));
  }
}
