package dev.pipewright.formats.paradl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.Refusal;
import dev.pipewright.formats.model.ModelFile;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.regex.Pattern;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Mistakes in ParaDL networks, each with its sentence. */
class ParadlNetRefusalsTest {
  private static final String HEADER = ParadlNetTest.HEADER;
  private static final String NET = ParadlNetTest.NET;

  @TempDir Path folder;

  private ModelFile read(String text) {
    return ParadlNet.read(Refusal.file(folder, "net", text));
  }

  private void refused(String expected, String text) {
    Refusal.assertRefused("net:" + expected, Refusal.file(folder, "net", text), ParadlNet::read);
  }

  @Test
  void layersThatDoNotChainAreRefused() {
    refused(
        "7: MPOOL reads 4x11x10, yet RELU in line 6 before it gives 4x12x10; a layer reads what the"
            + " line before it writes",
        NET.replace("MPOOL|4x12x10", "MPOOL|4x11x10"));
    refused(
        "4: CONV reads 2x12x10, yet the Input line before it gives 1x12x10; a layer reads what the"
            + " line before it writes",
        NET.replace("CONV|1x12x10|1x4", "CONV|2x12x10|2x4"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '@',
      value = {
        "1x4x3x3 @ 2x4x3x3 @ 4: CONV turns 1 channels into 4, yet its filter is 2x4x3x3; write 1x4"
            + " and the kernel",
        "BNORM|4x12x10|4x4x0x0 @ BNORM|4x12x10|4x5x0x0 @ 5: BNORM turns 4 channels into 4, yet"
            + " its filter is 4x5x0x0; write 4x4 and the kernel",
        "0x0x2x2|4x6x5 @ 0x0x2x2|5x6x5 @ 7: MPOOL is a pooling, yet turns 4 channels into 5; a"
            + " pooling keeps them",
        "0x0x2x2 @ 0x0x2x0 @ 7: MPOOL has the filter 0x0x2x0; zeros are for the kernel of an"
            + " element-wise layer (CxCx0x0) or for the channels of a pooling (0x0xKxK)",
        "RELU|4x12x10|4x4x0x0|4x12x10 @ RELU|4x12x10|4x4x0x0|4x12x11 @ 6: RELU is element-wise, yet"
            + " turns 4x12x10 into 4x12x11; write the same shape twice",
        "6x9x4x5 @ 6x9x5x5 @ 11: FC has a kernel of 5 over an extent of 4; a kernel is no larger"
            + " than its input",
        "1x4x3x3|4x12x10 @ 1x4x3x3|4x13x10 @ 4: CONV turns an extent of 12 into 13, which a kernel"
            + " of 3 does with no stride and no padding up to half of it; correct one of the three",
      })
  void shapesThatNoOperatorHasAreRefused(String right, String wrong, String expected) {
    String lines = NET.replace(right, wrong);
    assertFalse(lines.equals(NET), right);
    refused(expected, lines);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '@',
      value = {
        "1x12x10|1x4 @ 1x12xten|1x4 @ 4: the input \"1x12xten\" has \"ten\" in it; write whole"
            + " numbers from 1 to 1000000 with x between them",
        "1x12x10|1x4 @ 0x12x10|1x4 @ 4: the input \"0x12x10\" has \"0\" in it; write whole numbers"
            + " from 1 to 1000000 with x between them",
        "1x12x10|1x4 @ 1x120|1x4 @ 4: the input \"1x120\" has 2 numbers where the Input line asks"
            + " for 3; give channels and extents",
        "1x4x3x3 @ 1x4x3 @ 4: the filter \"1x4x3\" has 3 numbers where the Input line asks for 4;"
            + " give channels and extents",
        "1x4x3x3 @ 1x4x-3x3 @ 4: the filter \"1x4x-3x3\" has \"-3\" in it; write whole numbers from 0"
            + " to 1000000 with x between them",
        "|0.25 @ |soon @ 4: the number of seconds \"soon\" is out of range; write 0 or 1e-18 to 1e9 seconds",
        "|0.25 @ |1e999 @ 4: the number of seconds \"1e999\" is out of range; write 0 or 1e-18 to 1e9 seconds",
        "|0.25 @ |-1 @ 4: the number of seconds \"-1\" is out of range; write 0 or 1e-18 to 1e9 seconds",
        "|0.25 @ |1e10 @ 4: the number of seconds \"1e10\" is out of range; write 0 or 1e-18 to 1e9 seconds",
        "|0.25 @ |0|1 @ 4: has 6 fields between its bars; a layer reads"
            + " \"CONV1|3x226x226|3x96x11x11|96x54x54|0.0006\", the seconds may be missing",
        "BNORM @ ' ' @ 5: the layer has no name; a layer reads"
            + " \"CONV1|3x226x226|3x96x11x11|96x54x54|0.0006\", the seconds may be missing",
        "4x6x5|0 @ 4x6x5|1 @ 8: CONV has no seconds, yet MPOOL in line 7 has; give each layer with"
            + " weights its own, or the first layer alone those of the whole network",
        "60000x @ x @ 2: the number of samples \"\" is no count; write a whole number from 1 to"
            + " 1000000000000000",
        "60000x @ 6e4x @ 2: the number of samples \"6e4\" is no count; write a whole number from 1 to"
            + " 1000000000000000",
        "60000x1x12x10 @ 60000x1x12 @ 2: \"60000x1x12\" is no input; write samples, channels and two"
            + " or three extents, like 1280000x3x226x226",
        "60000x1x12x10 @ 6x1000000x1000000x10 @ 2: the input 1000000x1000000x10 has more than 10^12"
            + " numbers; write a smaller layer",
        "Input| @ Output| @ 2: expected \"Input|samples x channels x width x height\" here; a ParaDL"
            + " network begins with the lines Dataset, Input, Model",
        "|LeNet @ | @ 3: expected \"Model|name\" here; a ParaDL network begins with the lines"
            + " Dataset, Input, Model",
      })
  void otherMistakesAreRefused(String right, String wrong, String expected) {
    String lines = NET.replaceFirst(Pattern.quote(right), wrong);
    assertFalse(lines.equals(NET), right);
    refused(expected, lines);
  }

  @RepeatedTest(300)
  void aDamagedFileIsReadOrRefusedInASentence(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    StringBuilder text = new StringBuilder(NET);
    for (int damage = random.nextInt(1, 4); damage > 0; damage--) {
      int at = random.nextInt(text.length());
      char other = "0123456789x|.-e#\n Zé\0".charAt(random.nextInt(21));
      switch (random.nextInt(3)) {
        case 0 -> text.setCharAt(at, other);
        case 1 -> text.insert(at, other);
        default -> text.delete(at, Math.min(text.length() - 1, at + random.nextInt(1, 30)));
      }
    }
    try {
      assertTrue(ParadlNetTest.secondsOfOneSample(read(text.toString())) > 0);
    } catch (BadInputException refusal) {
      String message = String.valueOf(refusal.getMessage());
      assertTrue(message.matches("\\S+net:\\d+: [^\n]+"), message);
    }
  }

  @Test
  void filesThatEndTooEarlyAreRefused() {
    refused("3: no layer follows; a network has a line for each layer", HEADER);
    refused(
        "1: expected \"Input|samples x channels x width x height\" next; a ParaDL network begins"
            + " with the lines Dataset, Input, Model",
        "Dataset|D\n");
    refused("1: the file is empty; expected a ParaDL network", "# nothing\n");
    refused("1: is not a ParaDL network; the file holds bytes that are not text", "\0");
    refused(
        "11: has 3 fields between its bars; a layer reads"
            + " \"CONV1|3x226x226|3x96x11x11|96x54x54|0.0006\", the seconds may be missing",
        NET.substring(0, NET.lastIndexOf("6x9")));
  }

  @Test
  void longNamesAreRefused() {
    assertEquals(
        "R".repeat(200),
        read(NET.replace("CONV|1", "R".repeat(200) + "|1")).graph().layer(1).name());
    refused(
        "4: the name \"" + "-".repeat(57) + "...\" is too long; write at most 200 characters",
        NET.replace("CONV|1", "-".repeat(500_000) + "|1"));
  }

  @Test
  void tooManyLayersAreRefused() {
    String relu = "R|1x12x10|1x1x0x0|1x12x10\n";
    assertEquals(100_001, read(HEADER + relu.repeat(100_000)).graph().size());
    refused(
        "100004: the model has more than 100,000 layers; merge layers into blocks",
        HEADER + relu.repeat(100_001));
  }
}
