package dev.pipewright.app.cli.host;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.problem.ClusterNames;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LocalMachineTest {
  private static LocalMachine with(String gpus) {
    return LocalMachine.of(new MadeHost("/a/b.jar", Map.of("nvidia-smi", gpus), Set.of()));
  }

  @ParameterizedTest
  @CsvSource({
    "'NVIDIA H100 80GB HBM3, 81559', 8, H100-80GB",
    "'NVIDIA A100-SXM4-80GB, 81920', 4, A100-80GB",
    "'Tesla V100-SXM2-16GB, 16160', 2, V100",
  })
  void gpusWithADataSheetAreTheirs(String line, int count, String device) {
    LocalMachine here = with((line + "\n").repeat(count));
    assertEquals(OptionalLong.empty(), here.memory());
    Cluster cluster = ClusterNames.resolve(here.cluster());
    assertEquals(count, cluster.size());
    assertEquals(1, cluster.machines());
    assertTrue(cluster.device(0).name().startsWith(device), cluster.device(0).name());
  }

  @Test
  void otherGpusHaveTheMemoryThatTheDriverReports() {
    LocalMachine here = with("NVIDIA GeForce GTX 1080, 8119\nNVIDIA GeForce GTX 1080, 8119");
    assertEquals(new LocalMachine("gpus:2", OptionalLong.of(8119L << 20)), here);
    assertEquals(2, ClusterNames.resolve("gpus:2").size());
  }

  @Test
  void withoutGpusTheProcessorIsOneDevice() {
    LocalMachine here = LocalMachine.of(new MadeHost("/a/b.jar", Map.of(), Set.of()));
    assertEquals(new LocalMachine("processor:64", OptionalLong.of(1L << 40)), here);
    assertEquals(1, ClusterNames.resolve(here.cluster()).size());
  }

  @Test
  void gpusOfSeveralKindsAreForAFile() {
    String said =
        assertThrows(BadInputException.class, () -> with("NVIDIA A, 1\nNVIDIA B, 2")).getMessage();
    assertEquals(
        "--cluster local: the GPUs here differ (NVIDIA A, 1; NVIDIA B, 2); describe them in a YAML"
            + " file (docs/formats.md)",
        said);
  }

  @Test
  void memoryThatIsNoNumberIsRefused() {
    assertThrows(BadInputException.class, () -> with("NVIDIA GTX, [N/A]"));
  }
}
