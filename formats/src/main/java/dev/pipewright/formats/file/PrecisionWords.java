package dev.pipewright.formats.file;

import dev.pipewright.units.Precision;
import java.util.Map;

/** How files spell precisions. */
public final class PrecisionWords {
  /**
   * Precisions by word; {@code mixed} is what files said before they distinguished the 16-bit
   * formats.
   */
  public static final Map<String, Precision> BY_WORD = words();

  private PrecisionWords() {}

  private static Map<String, Precision> words() {
    Map<String, Precision> words = EnumWords.of(Precision.values());
    words.put("mixed", Precision.FP16);
    return words;
  }
}
