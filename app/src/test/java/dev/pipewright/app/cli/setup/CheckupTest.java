package dev.pipewright.app.cli.setup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.cli.host.Host;
import dev.pipewright.app.cli.host.MadeHost;
import dev.pipewright.app.cli.host.ThisHost;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CheckupTest {
  private static Diagnosis find(Host host, String name) {
    return Checkup.of(host).stream()
        .filter(each -> each.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aCheckoutBuildsAndTrains() {
    Host host =
        new MadeHost(
            "/src/app/target/launch/pipewright-app.jar",
            Map.of("mvn", "Apache Maven 3.9.9\nMaven home: /m", "sbatch", "slurm-wlm 22.05.8"),
            Set.of("/src/pom.xml", "/jdk/bin/javac"));
    assertEquals("a checkout in /src", find(host, "pipewright").what());
    assertTrue(find(host, "java").what().endsWith("/jdk; 25 and newer start quicker"));
    assertEquals("Apache Maven 3.9.9", find(host, "build").what());
    assertFalse(find(host, "libtorch").found());
    assertEquals("64, with 1.00 TiB of memory", find(host, "processors").what());
    assertEquals("slurm-wlm 22.05.8", find(host, "slurm").what());
    assertFalse(find(host, "kubernetes").found());
  }

  @Test
  void aPackageSaysWhatItLeavesOut() {
    Host host =
        new MadeHost(
            "/opt/pw/lib/pipewright-app.jar",
            Map.of("nvidia-smi", "NVIDIA H100, 81559 MiB\nNVIDIA H100, 81559 MiB"),
            Set.of("/opt/pw/bin/pipewright"));
    assertEquals("a package in /opt/pw", find(host, "pipewright").what());
    assertTrue(find(host, "libtorch").what().contains("checkout"));
    assertEquals("2 × NVIDIA H100, 81559 MiB", find(host, "gpu").what());
    assertTrue(Checkup.of(host).stream().noneMatch(each -> each.name().equals("build")));
  }

  @Test
  void differentGpusAreListed() {
    Host host = new MadeHost("/a/b.jar", Map.of("nvidia-smi", "A, 1 MiB\nB, 2 MiB"), Set.of());
    assertEquals("A, 1 MiB; B, 2 MiB", find(host, "gpu").what());
    assertEquals("on a class path", find(host, "pipewright").what());
  }

  /** Programs that are not there, fail or print much are no failures of ours. */
  @Test
  void programsOfThisMachineAreRun() {
    Host here = new ThisHost();
    assertEquals(Optional.of("a"), here.run(List.of("sh", "-c", "echo a; echo b >&2")));
    assertEquals(Optional.empty(), here.run(List.of("sh", "-c", "echo a; exit 1")));
    assertEquals(Optional.empty(), here.run(List.of("pipewright-has-no-such-program")));
    assertTrue(here.memory() > 1L << 28);
    assertTrue(Checkup.of(here).size() > 6);
  }
}
