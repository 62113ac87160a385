package dev.pipewright.zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.pipewright.cluster.Cluster;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClustersTest {
  private static Cluster cluster(String name) {
    return Clusters.find(name).orElseThrow();
  }

  @ParameterizedTest
  @CsvSource({
    "dapple-a, 2, 16",
    "dapple-b, 16, 16",
    "dapple-c, 16, 16",
    "dapple-a:4x8, 4, 32",
    "dapple-a:1x1, 1, 1",
    "dapple-b:8, 8, 8",
    "dapple-c:8x1, 8, 8"
  })
  void namesAndSizesGiveNodesAndDevices(String name, int nodes, int devices) {
    Cluster cluster = cluster(name);
    assertEquals(name, cluster.name());
    assertEquals(nodes, cluster.machines());
    assertEquals(devices, cluster.size());
  }

  @Test
  void everyNameIsFound() {
    assertEquals(List.of("dapple-a", "dapple-b", "dapple-c"), Clusters.names());
    Clusters.names().forEach(name -> assertEquals(name, cluster(name).name()));
  }

  @Test
  void levelsAreNodeAndCluster() {
    Cluster cluster = cluster("dapple-a");
    assertEquals(List.of("node", "cluster"), cluster.levels().stream().map(l -> l.name()).toList());
    assertEquals(0, cluster.levelJoining(0, 7));
    assertEquals(1, cluster.levelJoining(7, 8));
    assertEquals(25e9, cluster.levels().get(0).pointToPoint().bandwidth().value());
    assertEquals(3e9, cluster.levels().get(1).collective().bandwidth().value());
  }

  @Test
  void theSlowNetworkHasTwoFifthsOfTheFastOnesRates() {
    var fast = cluster("dapple-b").levels().get(1);
    var slow = cluster("dapple-c").levels().get(1);
    assertEquals(
        0.4 * fast.pointToPoint().bandwidth().value(), slow.pointToPoint().bandwidth().value());
    assertEquals(
        0.4 * fast.collective().bandwidth().value(), slow.collective().bandwidth().value());
    assertEquals(fast.collective().latency(), slow.collective().latency());
  }

  @Test
  void unknownNamesFindNothing() {
    assertEquals(Optional.empty(), Clusters.find("dapple"));
    assertEquals(Optional.empty(), Clusters.find("dapple-d:2x8"));
    assertEquals(Optional.empty(), Clusters.find(""));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "dapple-a:16 | dapple-a:16: '16' is not a size;"
            + " write nodes x devices per node, at most 100000 devices, like 4x8",
        "dapple-a:0x8 | dapple-a:0x8: '0x8' is not a size;"
            + " write nodes x devices per node, at most 100000 devices, like 4x8",
        "dapple-a:999999x8 | dapple-a:999999x8: '999999x8' is not a size;"
            + " write nodes x devices per node, at most 100000 devices, like 4x8",
        "dapple-b:-1 | dapple-b:-1: '-1' is not a size; its nodes have one device each:"
            + " write their number, at most 100000, like 8 (dapple-a has nodes of several)",
        "dapple-c:2x8 | dapple-c:2x8: '2x8' is not a size; its nodes have one device each:"
            + " write their number, at most 100000, like 8 (dapple-a has nodes of several)"
      })
  void sizesThatMakeNoSenseAreNamed(String name, String message) {
    var thrown = assertThrows(IllegalArgumentException.class, () -> Clusters.find(name));
    assertEquals(message, thrown.getMessage());
  }
}
