package dev.pipewright.formats.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.predict.transformer.StageSplit;
import org.junit.jupiter.api.Test;

/** Layers of stages as Megatron-LM's layout strings. */
class StatedSplitTest {
  @Test
  void textsAreReadBackEqual() {
    for (int predictions = 0; predictions <= 2; predictions++) {
      StageSplit split = StageSplit.even(8, 4, 61, predictions, false, false);
      assertEquals(split, StatedSplit.of(StatedSplit.text(split), 8));
    }
  }

  @Test
  void aSplitIsWrittenInMegatronsNotation() {
    StageSplit llama = StageSplit.even(8, 8, 126, 0, false, false);
    assertEquals("Ett|(tt|)*61,t|tL", StatedSplit.text(llama));
    StageSplit deepSeek = StageSplit.even(2, 1, 5, 1, false, false);
    assertEquals("Et*3|ttmL", StatedSplit.text(deepSeek));
  }
}
