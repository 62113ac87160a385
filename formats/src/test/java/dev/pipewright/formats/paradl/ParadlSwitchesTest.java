package dev.pipewright.formats.paradl;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import dev.pipewright.formats.file.Refusal;
import dev.pipewright.model.LayerGraph;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ParadlSwitchesTest {
  private static final String NET =
      """
      Dataset|D
      Input|1x3x8x8
      Model|Net
      CONV|3x8x8|3x3x3x3|3x8x8
      RELU|3x8x8|3x3x0x0|3x8x8
      CONV|3x8x8|3x3x3x3|3x8x8
      """;

  @TempDir Path folder;

  private LayerGraph graph() {
    return ParadlNet.read(Refusal.file(folder, "net", NET)).graph();
  }

  private boolean[] read(String text) {
    return ParadlSwitches.read(Refusal.file(folder, "on.lc", text), graph());
  }

  @Test
  void eachLineSwitchesOneLayerBehindTheInput() {
    boolean[] expected = {false, true, false, true};
    assertArrayEquals(expected, read("CONV|1\nRELU|0\nCONV|1\n"));
    assertArrayEquals(expected, read("0 CONV |1\r\n1 RELU |0\r\n2\tCONV |1"));
    assertArrayEquals(expected, read("# mine\n\nCONV | 1\n1 RELU|0\nCONV.2|1"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '@',
      value = {
        "'CONV|1\nRELU|0' @ 2: the file ends after 2 of the 3 layers of Net; the next is CONV.2",
        "'CONV|1\nRELU|0\nCONV|1\nFC|0' @ 4: Net has only 3 layers; remove the lines behind the"
            + " last",
        "'CONV|1\nBNORM|0\nCONV|1' @ 2: \"BNORM\" stands where the network has RELU; write the"
            + " layers in the network's order",
        "'CONV|1\nRELU|0\nCON|1' @ 3: \"CON\" stands where the network has CONV.2; write the layers"
            + " in the network's order",
        "'0 CONV|1\n2 RELU|0' @ 2: the number 2 is not this layer's; layers count from 0, write 1 or"
            + " none",
        "'CONV|yes' @ 1: CONV is neither on nor off; write \"CONV|1\" or \"CONV|0\"",
        "'CONV' @ 1: CONV is neither on nor off; write \"CONV|1\" or \"CONV|0\"",
        "'CONV|1|1' @ 1: CONV is neither on nor off; write \"CONV|1\" or \"CONV|0\"",
        "' ' @ 1: the file is empty; expected switches of a ParaDL strategy",
      })
  void mistakesAreRefused(String text, String expected) {
    LayerGraph graph = graph();
    Path file = Refusal.file(folder, "on.lc", text);
    Refusal.assertRefused("on.lc:" + expected, file, f -> ParadlSwitches.read(f, graph));
  }
}
