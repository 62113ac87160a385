package dev.pipewright.app.report.text;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class TextWidthTest {
  @Test
  void aSentenceBreaksAtBlanksAndNeverBeforeAUnit() {
    assertEquals(
        """
        a transfer takes up to
          34.7 ms; stage 0 uses
          82.2 % of its memory
        """,
        TextWidth.sentence(
            "a transfer takes up to 34.7 ms; stage 0 uses 82.2 % of its memory", 26));
  }

  @Test
  void aNameLongerThanALineBreaksAfterAComma() {
    assertEquals(
        """
        gpt:layers=64,
          hidden=1024,heads=16
          on dgx-h100
        """,
        TextWidth.sentence("gpt:layers=64,hidden=1024,heads=16 on dgx-h100", 22));
  }

  @Test
  void anItemGoesOnBelowItsFirstWord() {
    assertEquals(
        """
          gpt:layers=64,
            hidden=1024
        """,
        TextWidth.sentence("  gpt:layers=64,hidden=1024", 18));
    assertEquals("two words\n    more\n", TextWidth.sentence("two words more", 12, 4));
  }

  @Test
  void aWordWithoutASeparatorBreaksWhereTheLineEnds() {
    assertEquals("abcdefgh\n  ijklmn\n  op\n", TextWidth.sentence("abcdefghijklmnop", 8));
  }
}
