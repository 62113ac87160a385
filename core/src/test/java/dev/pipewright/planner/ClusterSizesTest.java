package dev.pipewright.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.zoo.Clusters;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClusterSizesTest {
  private static Cluster cluster(String name) {
    return Clusters.find(name).orElseThrow();
  }

  @Test
  void powersOfTwoWithinAMachineThenWholeMachines() {
    assertEquals(List.of(1, 2, 4, 8, 16, 24), ClusterSizes.all(cluster("dapple-a:3x8")));
    assertEquals(List.of(1, 2, 4, 6, 12), ClusterSizes.all(cluster("dapple-a:2x6")));
    assertEquals(List.of(1, 2, 3), ClusterSizes.all(cluster("dapple-b:3")));
    assertEquals(12, ClusterSizes.all(cluster("dapple-a:9x8")).size());
  }

  @Test
  void ofManyMachinesPowersOfTwoAndAll() {
    assertEquals(List.of(1, 2, 4, 8, 16, 32, 64, 80), ClusterSizes.some(cluster("dapple-a:10x8")));
    assertEquals(
        ClusterSizes.all(cluster("dapple-a:7x4")), ClusterSizes.some(cluster("dapple-a:7x4")));
  }

  /** The smaller cluster of that name has the same devices, links and groups. */
  @ParameterizedTest
  @ValueSource(strings = {"1x1", "1x4", "1x8", "2x8", "3x8"})
  void theFirstDevicesAreASmallerClusterOfItsKind(String size) {
    Cluster small = cluster("dapple-a:" + size);
    Cluster first = cluster("dapple-a:4x8").first(small.size());
    assertEquals(small.devices(), first.devices());
    assertEquals(small.groups(), first.groups());
    assertEquals(small.levels(), first.levels());
    assertEquals(small.software(), first.software());
  }

  @Test
  void aPartOfAGroupIsAGroup() {
    Cluster first = cluster("dapple-a:4x8").first(13);
    assertEquals(List.of(List.of(8, 5), List.of(13)), first.groups());
    assertThrows(IllegalArgumentException.class, () -> first.first(14));
    assertThrows(IllegalArgumentException.class, () -> first.first(0));
  }
}
