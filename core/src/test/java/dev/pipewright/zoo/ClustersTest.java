package dev.pipewright.zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.cluster.Level;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.Precision;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
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
    "dapple-c:8x1, 8, 8",
    "abci, 1088, 4352",
    "abci:64x4, 64, 256",
    "abci:1x2, 1, 2",
    "dgx-v100, 32, 256",
    "selene, 512, 4096",
    "selene:128x8, 128, 1024",
    "dgx-h100:4x8, 4, 32",
    "dgx-h100:64, 8, 64",
    "dgx-h100:4, 1, 4",
    "a100-40g-8x1600g:16x8, 16, 128",
    "a100-80g-8x800g, 64, 512",
    "a100-80g-8x800g:1x2, 1, 2",
    "a100-80g-8x1600g, 64, 512",
    "h100-80g-8x3200g, 64, 512"
  })
  void namesAndSizesGiveNodesAndDevices(String name, int nodes, int devices) {
    Cluster cluster = cluster(name);
    assertEquals(name, cluster.name());
    assertEquals(nodes, cluster.machines());
    assertEquals(devices, cluster.size());
  }

  @Test
  void everyNameIsFound() {
    assertEquals(11, Set.copyOf(Clusters.names()).size());
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

  @ParameterizedTest
  @CsvSource({
    "0, 3, 0",
    "0, 4, 1",
    "0, 67, 1",
    "67, 68, 2",
    "0, 135, 2",
    "0, 136, 3",
    "0, 4351, 3"
  })
  void devicesOfAbciMeetInNodeRackPairOrCluster(int a, int b, int level) {
    assertEquals(level, cluster("abci").levelJoining(a, b));
  }

  @Test
  void levelsOfAbciAreThoseOfTheExperiments() {
    List<Level> levels = cluster("abci").levels();
    assertEquals(
        List.of("node", "rack", "rack pair", "cluster"), levels.stream().map(Level::name).toList());
    assertEquals(
        List.of(9e-6, 4.031e-5, 4.049e-5, 4.098e-5),
        levels.stream().map(level -> level.collective().latency().value()).toList());
    assertEquals(1, levels.get(0).ports());
    assertEquals(2, levels.get(1).ports());
    assertEquals(34 / 3.0, levels.get(2).ports());
    assertEquals(68 / 3.0, levels.get(3).ports());
    assertEquals(Bytes.gib(16), cluster("abci").device(0).memory());
  }

  /** 64 nodes are three racks of 17 and one of 13. */
  @Test
  void theLastRackOfAbciMayBeSmaller() {
    Cluster cluster = cluster("abci:64x4");
    assertEquals(List.of(68, 68, 68, 52), cluster.groups().get(1));
    assertEquals(List.of(136, 120), cluster.groups().get(2));
    assertEquals(List.of(256), cluster.groups().get(3));
    assertEquals(1, cluster.levelJoining(204, 255));
    assertEquals(2, cluster.levelJoining(203, 204));
    assertEquals(3, cluster.levelJoining(135, 136));
  }

  /** All cards of a node together reach less than the network's name says, but most of it. */
  @ParameterizedTest
  @CsvSource({
    "dgx-v100, V100-32GB, 4, 400",
    "selene, A100-80GB, 8, 1600",
    "dgx-h100, H100-80GB, 8, 3200",
    "a100-40g-8x1600g, A100-40GB, 8, 1600",
    "a100-80g-8x800g, A100-80GB, 8, 800",
    "a100-80g-8x1600g, A100-80GB, 8, 1600",
    "h100-80g-8x3200g, H100-80GB, 8, 3200"
  })
  void nodesOfEightHaveTheirCards(String name, String device, int cards, double gigabits) {
    Cluster cluster = cluster(name);
    assertEquals(device, cluster.device(0).name());
    assertEquals(0, cluster.levelJoining(0, 7));
    assertEquals(1, cluster.levelJoining(7, 8));
    Level network = cluster.levels().get(1);
    assertEquals(cards, network.ports());
    double share = network.ports() * network.collective().bandwidth().value() * 8 / 1e9 / gigabits;
    assertEquals(0.95, share, 0.05);
  }

  /** Forty gigabytes differ from eighty in the memory's size and rate, not in arithmetic. */
  @Test
  void devicesHaveThePeaksOfTheirDataSheets() {
    DeviceKind small = cluster("a100-40g-8x1600g").device(0);
    DeviceKind large = cluster("a100-80g-8x1600g").device(0);
    assertEquals(312e12, small.mixed().value());
    assertEquals(small.mixed(), large.mixed());
    assertEquals(small.fp32(), large.fp32());
    assertEquals(312e12, large.peak(Precision.BF16).value());
    assertEquals(156e12, large.peak(Precision.TF32).value());
    assertEquals(494.7e12, cluster("dgx-h100").device(0).peak(Precision.TF32).value());
    assertEquals(1555e9, small.memoryBandwidth().value());
    assertEquals(2039e9, large.memoryBandwidth().value());
    assertEquals(989.5e12, cluster("dgx-h100").device(0).mixed().value());
    assertEquals(
        Clusters.v100().withMemory(Bytes.gib(32)).fp32(), cluster("dgx-v100").device(0).fp32());
  }

  /** A process gets less than the name says; papers count all of it. */
  @Test
  void devicesHaveTheMemoryThatAProcessCanUse() {
    DeviceKind h100 = cluster("dgx-h100").device(0);
    assertEquals(85_520_809_984L, h100.deviceMemory().reported().value()); // 79.65 GiB
    assertEquals(85_520_809_984L - 1093 * 1_048_576L - 1_600_000_000L, h100.memory().value());
    assertEquals("77.2 GiB", cluster("selene").device(0).memory().toString());
    assertEquals("37.5 GiB", cluster("a100-40g-8x1600g").device(0).memory().toString());
    assertEquals("29.7 GiB", cluster("dgx-v100").device(0).memory().toString());
    for (String paper : List.of("dapple-a", "dapple-b", "dapple-c", "abci")) {
      assertEquals(Bytes.gib(16), cluster(paper).device(0).memory());
      assertEquals(OptionalDouble.of(0), cluster(paper).reserve());
      assertEquals(cluster(paper), cluster(paper).withUsualReserve(0.5));
    }
  }

  @Test
  void onlyNewerDevicesHaveBfloat16AndTf32() {
    DeviceKind v100 = cluster("dgx-v100").device(0);
    assertFalse(v100.computes(Precision.BF16) || v100.computes(Precision.TF32));
    assertTrue(v100.computes(Precision.FP16) && v100.computes(Precision.FP32));
    for (Precision precision : Precision.values()) {
      assertTrue(cluster("selene").device(0).computes(precision));
      assertTrue(cluster("dgx-h100").device(0).computes(precision));
    }
  }

  @Test
  void unknownNamesFindNothing() {
    assertEquals(Optional.empty(), Clusters.find("dapple"));
    assertEquals(Optional.empty(), Clusters.find("dapple-d:2x8"));
    assertEquals(Optional.empty(), Clusters.find("abci-2"));
    assertEquals(Optional.empty(), Clusters.find("a100-80g-8x3200g"));
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
        "abci:64 | abci:64: '64' is not a size;"
            + " write nodes x devices per node, at most 100000 devices, like 4x8",
        "selene:12 | selene:12: 12 devices do not fill nodes of 8;"
            + " write 8 or 16, or nodes x devices per node, like 4x8",
        "selene: | selene:: '' is not a size;"
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
