package dev.pipewright.formats.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.predict.transformer.GpuMachine;
import dev.pipewright.predict.transformer.NumberFormats.Products;
import dev.pipewright.units.Precision;
import dev.pipewright.zoo.Clusters;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Clusters by the names of their machines. */
class MachineClustersTest {
  private static final MachineSheets SHEETS = MachineSheets.read();

  private static Cluster cluster(String name) {
    return MachineClusters.find(name).orElseThrow();
  }

  @ParameterizedTest
  @CsvSource({
    "h100:8x8, H100-80GB, 64, 8, 48",
    "8xH100, H100-80GB, 8, 8, 48",
    "64 A100, A100-80GB, 64, 8, 24",
    "H100:4, H100-80GB, 4, 4, 48",
    "b200, B200, 512, 8, 48",
    "b300:2x8, B300, 16, 8, 96",
    "h200-8x1600g:16, H200, 16, 8, 24",
    "a100-80g-8x400g:2x8, A100-80GB, 16, 8, 6",
    "gb200-nvl72:2x64, GB200, 128, 64, 48",
    "p5.48xlarge:64, H100-80GB, 64, 8, 48",
    "rtx5090:1x2, RTX-5090, 2, 2, 6"
  })
  void aNameSaysKindSizeAndNetwork(
      String name, String kind, int devices, int node, long gigabytesPerSecond) {
    Cluster cluster = cluster(name);
    assertEquals(kind, cluster.device(0).name());
    assertEquals(devices, cluster.size());
    assertEquals(node, cluster.groups().get(0).get(0));
    assertEquals(
        gigabytesPerSecond * 1e9, cluster.levels().get(1).collective().bandwidth().value(), 1e6);
  }

  /** Sheets and the zoo's devices were written down apart. */
  @ParameterizedTest
  @ValueSource(strings = {"v100-32g", "a100-40g", "a100-80g", "h100-80g"})
  void sheetsSayTheSameAsTheZoo(String name) {
    DeviceKind zoo = cluster(name).device(0);
    var sheet = SHEETS.sheet(name).orElseThrow();
    GpuMachine machine = sheet.machine();
    assertEquals(zoo.name(), MachineSheets.kindName(machine));
    assertEquals(zoo.fp32().value(), sheet.fp32Flops());
    assertEquals(zoo.mixed().value(), machine.flops(Products.HALF));
    assertEquals(zoo.tf32().map(peak -> peak.value()).orElse(0.0), sheet.tf32Flops());
    assertEquals(zoo.computes(Precision.BF16), sheet.bfloat16());
    assertEquals(zoo.memoryBandwidth().value(), machine.memoryBandwidth());
    double reported = zoo.deviceMemory().reported().value();
    assertEquals(machine.memoryBytes(), reported, 0.02 * machine.memoryBytes());
  }

  /** A cluster of a machine is that machine for the oracle, line rate included. */
  @Test
  void everyMachineIsFoundInItsCluster() {
    for (String name : SHEETS.names()) {
      GpuMachine sheet = SHEETS.find(name);
      GpuMachine found = SHEETS.of(cluster(name)).orElseThrow();
      assertEquals(sheet.chip(), found.chip(), name);
      assertEquals(sheet.nvlinkBandwidth(), found.nvlinkBandwidth(), name);
      assertEquals(sheet.domain(), found.domain(), name);
      double network = sheet.networkBandwidth();
      double cards = name.equals("v100-32g") ? 0.5 : 1; // a DGX-1 has four for eight devices
      assertEquals(cards * network, found.networkBandwidth(), 1e-9 * network, name);
    }
    for (String name : SHEETS.shapeNames()) {
      assertTrue(SHEETS.of(cluster(name)).isPresent(), name);
    }
  }

  @Test
  void everyAliasLeadsSomewhere() {
    for (String alias : SHEETS.aliases()) {
      String meant = SHEETS.meant(alias);
      Cluster expected = Clusters.find(meant).or(() -> MachineClusters.find(meant)).orElseThrow();
      assertEquals(expected.device(0), cluster(alias).device(0), alias);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "b200:12 | b200:12: 12 devices do not fill nodes of 8; write 8 or 16, or nodes x devices per node, like 4x8",
        "b200:many | b200:many: 'many' is not a size; write nodes x devices per node, at most 100000 devices, like 4x8",
        "b200:0x8 | b200:0x8: '0x8' is not a size; write nodes x devices per node, at most 100000 devices, like 4x8"
      })
  void aSizeThatIsNoneIsRefused(String name, String message) {
    var thrown = assertThrows(IllegalArgumentException.class, () -> MachineClusters.find(name));
    assertEquals(message, thrown.getMessage());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "h900", "8x", "x8", "resnet-50", "-nvl72", "-8x400g", "plan.yaml"})
  void otherNamesAreNotMachines(String name) {
    assertEquals(Optional.empty(), MachineClusters.find(name));
  }
}
