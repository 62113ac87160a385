package dev.pipewright.formats.paradl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Link;
import dev.pipewright.formats.file.Refusal;
import dev.pipewright.units.Bytes;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ParadlPlatformTest {
  private static final String PLATFORM =
      """
      MEM_PER_NODE|12e9|Bytes
      NODE_SPEED|1.5E13|FLOPS
      BANDWIDTH|25e8|Bps
      LATENCY|2e-6|second
      MAX_NODE|24|GPUs
      GPU_PER_NODE|8|GPUs
      """;

  @TempDir Path folder;

  private Cluster read(String text) {
    return ParadlPlatform.read(Refusal.file(folder, "small.plat", text));
  }

  @Test
  void sixLinesAreACluster() {
    Cluster cluster = read(PLATFORM);
    assertEquals("small", cluster.name());
    assertEquals(24, cluster.size());
    assertEquals(3, cluster.machines());
    assertEquals(0, cluster.levelJoining(0, 7));
    assertEquals(1, cluster.levelJoining(7, 8));
    assertEquals(new Bytes(12_000_000_000L), cluster.device(0).memory());
    assertEquals(1.5e13, cluster.device(23).fp32().value());
    assertEquals(1.5e13, cluster.device(23).mixed().value());
    assertEquals(900e9, cluster.device(0).memoryBandwidth().value());
    for (var level : cluster.levels()) {
      assertEquals(Link.of(2e-6, 25e8), level.pointToPoint());
      assertEquals(Link.of(2e-6, 25e8), level.collective());
    }
  }

  @Test
  void namesAndUnitsAreFreeAndLinesMayBeUntidy() {
    String untidy = "# mine\r\n" + PLATFORM.replace("|", " | ").replace("\n", "\r\n\r\n");
    assertEquals(read(PLATFORM), read(untidy));
    assertEquals(read(PLATFORM), read(PLATFORM.replaceAll("[A-Z_]{5,}\\|", "x|")));
    assertEquals(read(PLATFORM), read(PLATFORM.replaceAll("\\|[A-Za-z]+\n", "\n")));
    assertEquals(0, read(PLATFORM.replace("2e-6", "0")).levels().get(0).collective().seconds(0));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '@',
      value = {
        "25e8 @ 0 @ 3: the bytes per second \"0\" is out of range; write 0.001 to 1e18 bytes per second",
        "25e8 @ -1 @ 3: the bytes per second \"-1\" is out of range; write 0.001 to 1e18 bytes per second",
        "1.5E13 @ 0.0 @ 2: the FLOP per second \"0.0\" is out of range; write 1 to 1e24 FLOP/s",
        "2e-6 @ -2e-6 @ 4: the seconds of latency \"-2e-6\" is out of range; write 0 or 1e-18 to 1e9 seconds",
        "2e-6 @ fast @ 4: the seconds of latency \"fast\" is out of range; write 0 or 1e-18 to 1e9 seconds",
        "12e9 @ 1e999 @ 1: the bytes of memory \"1e999\" is out of range; write 1e-9 to 1e15 bytes",
        "12e9 @ 1e16 @ 1: the bytes of memory \"1e16\" is out of range; write 1e-9 to 1e15 bytes",
        "|24 @ |2e1 @ 5: the number of devices \"2e1\" is no count; write a whole number from 1 to"
            + " 1000000",
        "|24 @ |0 @ 5: the number of devices \"0\" is no count; write a whole number from 1 to"
            + " 1000000",
        "|8 @ |1000001 @ 6: the number of devices of a node \"1000001\" is no count; write a whole"
            + " number from 1 to 1000000",
        "|8 @ |5 @ 6: nodes of 5 devices do not divide the 24 devices of line 5; give a divisor",
        "LATENCY|2e-6|second @ LATENCY @ 4: is no line of a platform; write name, seconds of latency"
            + " and unit, like \"LATENCY|…|…\"",
        "LATENCY @ MAX_NODE @ 4: MAX_NODE stands where LATENCY belongs; the order of the lines is"
            + " MEM_PER_NODE, NODE_SPEED, BANDWIDTH, LATENCY, MAX_NODE, GPU_PER_NODE",
        "GPU_PER_NODE|8|GPUs @ '#' @ 5: the file ends after this line; add GPU_PER_NODE",
        "GPU_PER_NODE|8|GPUs @ 'GPU_PER_NODE|8|GPUs\nRACKS|2|' @ 7: is one line too many; a platform"
            + " has six: MEM_PER_NODE, NODE_SPEED, BANDWIDTH, LATENCY, MAX_NODE, GPU_PER_NODE",
      })
  void mistakesAreRefused(String right, String wrong, String expected) {
    String lines = PLATFORM.replace(right, wrong);
    assertFalse(lines.equals(PLATFORM), right);
    Path file = Refusal.file(folder, "small.plat", lines);
    Refusal.assertRefused("small.plat:" + expected, file, ParadlPlatform::read);
  }

  @Test
  void anEmptyFileIsRefused() {
    Path file = Refusal.file(folder, "small.plat", "");
    Refusal.assertRefused(
        "small.plat:1: the file is empty; expected a ParaDL platform", file, ParadlPlatform::read);
  }
}
