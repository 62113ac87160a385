package dev.pipewright.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.pipewright.zoo.Clusters;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClusterVariantsTest {
  private static final Cluster TWO = Clusters.find("dapple-a:2x8").orElseThrow();

  @Test
  void sizesAreTheFirstDevicesOrWholeMachinesMore() {
    assertEquals(List.of(8, 4), ClusterVariants.sized(TWO, 12).groups().get(0));
    assertEquals(List.of(8, 8, 8, 8), ClusterVariants.sized(TWO, 32).groups().get(0));
    assertEquals(TWO.levels(), ClusterVariants.sized(TWO, 32).levels());
    assertSame(TWO, ClusterVariants.sized(TWO, 16));
  }

  @Test
  void memoryGrowsBeforeWhatIsTakenOfIt() {
    DeviceMemory before = TWO.device(0).deviceMemory();
    DeviceMemory after = ClusterVariants.withMemoryTimes(TWO, 2).device(0).deviceMemory();
    assertEquals(2 * before.reported().value(), after.reported().value());
    assertEquals(before.context(), after.context());
    assertEquals(before.reserve(), after.reserve());
  }

  @Test
  void bandwidthIsThatBetweenMachinesAndLatencyThatOfAllLinks() {
    Cluster fast = ClusterVariants.withBandwidthTimes(TWO, 4);
    assertEquals(TWO.levels().get(0), fast.levels().get(0));
    Link before = TWO.levels().get(1).collective();
    Link after = fast.levels().get(1).collective();
    assertEquals(4 * before.bandwidth().value(), after.bandwidth().value());
    assertEquals(before.latency(), after.latency());
    Cluster late = ClusterVariants.withLatencyTimes(TWO, 10);
    for (int level = 0; level < 2; level++) {
      assertEquals(
          10 * TWO.levels().get(level).pointToPoint().latency().value(),
          late.levels().get(level).pointToPoint().latency().value(),
          1e-15);
    }
  }

  @Test
  void aStragglerComputesSlowerAndHoldsAsMuch() {
    Cluster slow = ClusterVariants.withStraggler(TWO, 1.5);
    assertFalse(slow.homogeneous());
    assertEquals(TWO.device(0), slow.device(14));
    assertEquals(TWO.device(15).mixed().value() / 1.5, slow.device(15).mixed().value());
    assertEquals(TWO.device(15).memory(), slow.device(15).memory());
    assertSame(TWO, ClusterVariants.withStraggler(TWO, 1));
    assertThrows(IllegalArgumentException.class, () -> ClusterVariants.withStraggler(TWO, 0.5));
  }
}
