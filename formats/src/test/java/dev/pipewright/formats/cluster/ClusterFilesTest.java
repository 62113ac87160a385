package dev.pipewright.formats.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.formats.file.BadInputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Clusters in files of other programs. */
class ClusterFilesTest {
  private static final String TOPOLOGY =
      """
      \tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity
      GPU0\t X \tNV12\tNV12\tNV12\tPIX\t0-23\t0
      GPU1\tNV12\t X \tNV12\tNV12\tSYS\t0-23\t0
      GPU2\tNV12\tNV12\t X \tNV12\tSYS\t24-47\t1
      GPU3\tNV12\tNV12\tNV12\t X \tSYS\t24-47\t1
      NIC0\tPIX\tSYS\tSYS\tSYS\t X

      Legend:
        X    = Self
      """;

  private static final String SYSTEM =
      """
      # a comment
      data_dir: data/h200_sxm
      gpu:
        mem_bw: 4800000000000
      node:
        num_gpus_per_node: 8
        inter_node_bw: 25000000000
        intra_node_bw: 450000000000
      """;

  private static final String CALCULON =
      """
      {"matrix": {"float16": {"tflops": 1000}}, "vector": {"float16": {"tflops": 120}},
       "mem1": {"GiB": 80, "GBps": 3000, "MB_efficiency": [[0, 0.9]]},
       "networks": [{"bandwidth": 450, "efficiency": 0.5, "size": 8, "latency": 1e-5},
                    {"bandwidth": 50, "efficiency": 0.9, "size": 32, "latency": 2e-5}]}
      """;

  @TempDir private Path folder;

  private Path file(String text) throws IOException {
    return Files.writeString(folder.resolve("cluster"), text.replace("~", "\n"));
  }

  private static void is(Cluster cluster, String kind, int nodes, int devices) {
    assertEquals(kind, cluster.device(0).name());
    assertEquals(nodes, cluster.machines());
    assertEquals(devices, cluster.size());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "NodeName=n1 CPUTot=96~   Gres=gpu:h100:8(S:0-1)~   State=IDLE~~NodeName=n2~   Gres=gpu:h100:8~   State=MIXED | H100-80GB | 2 | 16",
        "NodeName=g[01-04,7] Gres=gpu:a100:8 State=UNKNOWN | A100-80GB | 5 | 40",
        "# slurm.conf~NodeName=DEFAULT State=UNKNOWN~NodeName=a,b Gres=gpu:H200:4 | H200 | 2 | 8",
        "NodeName=n1 Gres=gpu:b200:8 State=IDLE~NodeName=n2 Gres=gpu:b200:8 State=IDLE+DRAIN~NodeName=c1 Gres=(null) State=IDLE | B200 | 1 | 8"
      })
  void nodesOfSlurm(String text, String kind, int nodes, int devices) throws IOException {
    is(ClusterFiles.read(file(text)), kind, nodes, devices);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "NodeName=n1 Gres=gpu:8 | 1: Gres=gpu:8 does not say which GPUs; expected gpu:h100:8, or give --cluster h100:1x8",
        "NodeName=n1 Gres=(null) | 1: no node has GPUs; expected Gres=gpu:h100:8",
        "NodeName=n1 Gres=gpu:h100:8 State=DOWN* | 1: no node has GPUs and is up; expected Gres=gpu:h100:8",
        "NodeName=n1 Gres=gpu:h100:8~NodeName=n2 Gres=gpu:a100:8 | 2: nodes have different GPUs (gpu:a100:8, gpu:h100:8); give those of one kind",
        "NodeName=n[1-x] Gres=gpu:h100:8 | 1: NodeName=n[1-x] is no list of hosts; expected n[01-04,7]"
      })
  void nodesThatAreNoClusterAreRefused(String text, String message) throws IOException {
    Path file = file(text);
    var thrown = assertThrows(BadInputException.class, () -> ClusterFiles.read(file));
    assertEquals(file + ":" + message, thrown.getMessage());
  }

  @Test
  void aTopologyNeedsTheNameOfItsDevices() throws IOException {
    Path file = file(TOPOLOGY);
    is(ClusterFiles.read(file, "a100"), "A100-80GB", 1, 4);
    var thrown = assertThrows(BadInputException.class, () -> ClusterFiles.read(file));
    assertEquals(
        file
            + ": joins 4 GPUs by 12 NVLinks each and does not say which they are; write `pipewright clusters "
            + file
            + " --for h100 > mine.yaml` with their name",
        thrown.getMessage());
    var other = file(TOPOLOGY.replaceFirst("NV12", "NV6"));
    var uneven = assertThrows(BadInputException.class, () -> ClusterFiles.read(other, "a100"));
    assertEquals(
        other
            + ":2: GPU0 has neighbours with [6, 12] NVLinks; a node whose GPUs are joined alike is expected",
        uneven.getMessage());
  }

  @Test
  void aSystemOfAiConfiguratorHasItsNetwork() throws IOException {
    Cluster cluster = ClusterFiles.read(file(SYSTEM));
    is(cluster, "H200", 64, 512);
    assertEquals(24e9, cluster.levels().get(1).collective().bandwidth().value(), 1);
    Path unknown = file(SYSTEM.replace("h200_sxm", "x900_sxm"));
    var thrown = assertThrows(BadInputException.class, () -> ClusterFiles.read(unknown));
    assertTrue(
        String.valueOf(thrown.getMessage()).contains(":2: no data sheet of x900; there are v100"));
  }

  @Test
  void aSystemOfCalculonHasItsPeaksAndNetworks() throws IOException {
    Cluster cluster = ClusterFiles.read(file(CALCULON));
    is(cluster, "cluster", 4, 32);
    assertEquals(1e15, cluster.device(0).mixed().value());
    assertEquals(3e12, cluster.device(0).memoryBandwidth().value());
    assertEquals(225e9, cluster.levels().get(0).collective().bandwidth().value());
    assertEquals(45e9, cluster.levels().get(1).collective().bandwidth().value());
    Path one = file(CALCULON.replaceFirst("(?s)\\{\"bandwidth\": 50.*\\}\\]", "]"));
    assertThrows(BadInputException.class, () -> ClusterFiles.read(one));
  }
}
