package dev.pipewright.formats.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.AllReduceAlgorithm;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.cluster.DeviceMemory;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import dev.pipewright.cluster.Software;
import dev.pipewright.formats.file.Refusal;
import dev.pipewright.formats.model.RandomModel;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.BytesPerSecond;
import dev.pipewright.units.FlopsPerSecond;
import dev.pipewright.units.Precision;
import dev.pipewright.units.Range;
import dev.pipewright.units.Seconds;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClusterYamlTest {
  static final String GOOD =
      """
      format: pipewright-cluster
      version: 1
      name: two nodes   # a comment
      kinds:
        - {name: v100, memory_bytes: 16e9, fp32_flops: 15.7e12, mixed_flops: 125e12,
           memory_bytes_per_s: 9e11}
      levels:
        - name: node
          point_to_point: {latency_s: 1e-5, bytes_per_s: 25e9}
          collective: {latency_s: 1e-5, bytes_per_s: 20e9}
          groups: 2
        - name: cluster
          point_to_point: {latency_s: 5e-5, bytes_per_s: 3e9}
          collective: {latency_s: 5e-5, bytes_per_s: 2e9}
          groups: [4]
      devices:
        - kind: v100
        - {kind: v100, count: 3}
      """;

  @TempDir Path folder;

  private void refused(String expected, String from, String to) {
    assertTrue(GOOD.contains(from), from);
    Path file = Refusal.file(folder, "c.yaml", GOOD.replace(from, to));
    Refusal.assertRefused("c.yaml:" + expected, file, ClusterYaml::read);
  }

  @Test
  void yamlMayBeWrittenByHand() {
    DeviceKind v100 =
        new DeviceKind(
            "v100",
            new Bytes(16_000_000_000L),
            new FlopsPerSecond(15.7e12),
            new FlopsPerSecond(125e12),
            new BytesPerSecond(9e11));
    List<Level> levels =
        List.of(
            new Level("node", Link.of(1e-5, 25e9), Link.of(1e-5, 20e9)),
            new Level("cluster", Link.of(5e-5, 3e9), Link.of(5e-5, 2e9)));
    assertEquals(
        Cluster.uniform("two nodes", v100, levels, 2, 2),
        ClusterYaml.read(Refusal.file(folder, "c.yaml", GOOD)));
  }

  @Test
  void jsonIsAccepted() {
    String link = "{\"latency_s\": 0, \"bytes_per_s\": 1e9}";
    String json =
        """
        {"format": "pipewright-cluster", "version": 1, "name": "one",
        \t"kinds": [{"name": "k", "memory_bytes": 1, "fp32_flops": 1, "mixed_flops": 1,
        \t\t"memory_bytes_per_s": 1}],
        \t"levels": [{"name": "node", "point_to_point": %s, "collective": %s, "groups": [1]}],
        \t"devices": [{"kind": "k"}]}
        """
            .formatted(link, link);
    assertEquals(1, ClusterYaml.read(Refusal.file(folder, "c.json", json)).size());
  }

  @Test
  void brokenJsonIsCalledSo() {
    assertEquals(
        "c.json:1: the key \"a\" stands twice, first in line 1; keep one",
        Refusal.of(Refusal.file(folder, "c.json", "{\"a\": 1,\t\"a\": 2}"), ClusterYaml::read));
    String message = Refusal.of(Refusal.file(folder, "c.json", "{\"a\": "), ClusterYaml::read);
    assertEquals("c.json:1:7: the file ends inside a; write it again", message);
  }

  @RepeatedTest(200)
  void whatIsWrittenIsReadBackEqual(RepetitionInfo seed) {
    Cluster cluster = random(new RandomModel(seed.getCurrentRepetition()));
    Path file = folder.resolve("cluster.yaml");
    ClusterYaml.write(file, cluster);
    assertEquals(cluster, ClusterYaml.read(file));
  }

  private static Cluster random(RandomModel made) {
    SplittableRandom random = made.random();
    List<DeviceKind> kinds = new ArrayList<>();
    for (int i = random.nextInt(1, 4); i > 0; i--) {
      kinds.add(
          new DeviceKind(
              i + made.text(),
              memory(made),
              new FlopsPerSecond(positive(made)),
              new FlopsPerSecond(positive(made)),
              made.flip() ? Optional.of(new FlopsPerSecond(positive(made))) : Optional.empty(),
              made.flip(),
              new BytesPerSecond(positive(made))));
    }
    List<DeviceKind> devices = new ArrayList<>();
    for (int i = random.nextInt(1, 30); i > 0; i--) {
      DeviceKind last = devices.isEmpty() ? kinds.get(0) : devices.get(devices.size() - 1);
      devices.add(made.flip() ? last : kinds.get(random.nextInt(kinds.size())));
    }
    List<List<Integer>> groups = new ArrayList<>();
    List<Integer> below = java.util.Collections.nCopies(devices.size(), 1);
    for (int level = random.nextInt(3); level >= 0; level--) {
      below = level == 0 ? List.of(devices.size()) : joined(below, random, made.flip());
      groups.add(below);
    }
    List<Level> levels = new ArrayList<>();
    groups.forEach(
        g -> levels.add(new Level(made.text(), link(made), link(made), ports(made), share(made))));
    Software software = new Software(made.flip() ? 0 : positive(made), made.flip(), made.flip());
    software = software.with(made.one(AllReduceAlgorithm.values()));
    software = made.flip() ? software : software.withOverlap(random.nextDouble());
    software = made.flip() ? software : software.withPrecision(made.one(Precision.values()));
    return new Cluster(made.text(), devices, levels, groups, software);
  }

  private static List<Integer> joined(List<Integer> below, SplittableRandom random, boolean even) {
    List<Integer> sizes = new ArrayList<>();
    int step = below.size() % 2 == 0 ? 2 : 1;
    for (int first = 0, next; first < below.size(); first = next) {
      next = Math.min(below.size(), first + (even ? step : random.nextInt(1, 4)));
      sizes.add(below.subList(first, next).stream().mapToInt(Integer::intValue).sum());
    }
    return sizes;
  }

  private static double share(RandomModel made) {
    return made.flip() ? 1 : 1 - made.random().nextDouble();
  }

  private static double ports(RandomModel made) {
    return made.flip() ? 1 : positive(made);
  }

  private static Link link(RandomModel made) {
    List<Link.Piece> small = new ArrayList<>();
    double size = 0;
    for (int i = made.random().nextInt(4); i > 1; i--) {
      size += made.random().nextDouble(1, 1e6);
      small.add(
          new Link.Piece(size, new Seconds(made.amount()), new BytesPerSecond(positive(made))));
    }
    return new Link(new Seconds(made.amount()), new BytesPerSecond(positive(made)), small);
  }

  private static double positive(RandomModel made) {
    return Math.max(1, made.amount());
  }

  @Test
  void aClusterIsWrittenForPeople() {
    Cluster cluster = ClusterYaml.read(Refusal.file(folder, "c.yaml", GOOD));
    assertEquals(
        """
        format: pipewright-cluster
        version: 1
        name: "two nodes"
        kinds:
          - {name: "v100", memory_bytes: 16000000000, fp32_flops: 1.57E13, mixed_flops: 1.25E14, memory_bytes_per_s: 9.0E11}
        # Innermost first. Groups: how many of the level below one group joins, or sizes.
        levels:
          - name: "node"
            point_to_point: {latency_s: 1.0E-5, bytes_per_s: 2.5E10}
            collective: {latency_s: 1.0E-5, bytes_per_s: 2.0E10}
            groups: 2
          - name: "cluster"
            point_to_point: {latency_s: 5.0E-5, bytes_per_s: 3.0E9}
            collective: {latency_s: 5.0E-5, bytes_per_s: 2.0E9}
            groups: 2
        devices:
          - {kind: "v100", count: 4}
        """,
        ClusterYaml.text(cluster));
  }

  @Test
  void aClusterWithoutDevicesIsRefused() {
    refused(
        "16: devices is empty; a cluster needs at least one device",
        "devices:\n  - kind: v100\n  - {kind: v100, count: 3}",
        "devices: []");
    refused(
        "16: devices is null; expected a list", "\n  - kind: v100\n  - {kind: v100, count: 3}", "");
    refused(
        "18: devices[1].count is the number 0; expected a whole number >= 1",
        "count: 3",
        "count: 0");
    refused(
        "18: the cluster has more than 1,000,000 devices; describe a smaller one",
        "count: 3",
        "count: 1000000");
  }

  @Test
  void unknownKindsAndKeysAreRefused() {
    refused("17: unknown kind \"v10\"; did you mean \"v100\"?", "kind: v100\n", "kind: v10\n");
    refused(
        "13: unknown key \"latency\" in levels[1].point_to_point; did you mean \"latency_s\"?",
        "latency_s: 5e-5, bytes_per_s: 3e9",
        "latency: 5e-5, bytes_per_s: 3e9");
    refused(
        "11: unknown key \"fanout\" in levels[0]; known here: name, point_to_point, collective,"
            + " ports, achieved, groups",
        "groups: 2",
        "fanout: 2");
  }

  @Test
  void numbersOutOfRangeAreRefused() {
    refused(
        "9: levels[0].point_to_point.bytes_per_s is the number 0; expected 0.001 to 1e18 bytes per second",
        "25e9",
        "0");
    refused(
        "9: levels[0].point_to_point.latency_s is the number -1e-5; expected 0 or 1e-18 to 1e9 seconds",
        "latency_s: 1e-5, bytes_per_s: 25e9",
        "latency_s: -1e-5, bytes_per_s: 25e9");
    refused(
        "9: levels[0].point_to_point.bytes_per_s is the number .inf; expected 0.001 to 1e18 bytes per second",
        "25e9",
        ".inf");
    refused(
        "9: levels[0].point_to_point.bytes_per_s is the text \"25 GB/s\"; expected 0.001 to"
            + " 1e18 bytes per second",
        "25e9",
        "25 GB/s");
  }

  @Test
  void groupsMustCoverAllDevices() {
    refused(
        "11: groups of 3 do not divide the 4 groups or devices of the level below; list the sizes",
        "groups: 2",
        "groups: 3");
    refused(
        "8: the groups of a level must cover all devices: level=0, members=3, devices=4",
        "groups: 2",
        "groups: [1, 2]");
    refused(
        "8: the outermost level must be one group: groups=[2, 2]", "groups: [4]", "groups: [2, 2]");
  }

  @Test
  void twoKindsWithOneNameAreRefused() {
    String kind = ", memory_bytes: 1, fp32_flops: 1, mixed_flops: 1, memory_bytes_per_s: 1}\n";
    refused(
        "7: two kinds are called \"v100\"; give each a name of its own",
        "levels:",
        "  - {name: v100" + kind + "levels:");
  }

  private static DeviceMemory memory(RandomModel made) {
    SplittableRandom random = made.random();
    long reported = random.nextLong(100, (long) Range.BYTES.most());
    return new DeviceMemory(
        new Bytes(reported),
        new Bytes(made.flip() ? 0 : random.nextLong(reported / 4)),
        new Bytes(made.flip() ? 0 : random.nextLong(reported / 4)),
        made.flip() ? OptionalDouble.empty() : OptionalDouble.of(random.nextDouble()));
  }

  @Test
  void whatADeviceKeepsFromPlansIsRead() {
    String text =
        GOOD.replace(
            "memory_bytes: 16e9,",
            "memory_bytes: 16e9, context_bytes: 5e8, communication_bytes: 1e9,"
                + " memory_reserve: 0.1, tf32_flops: 5e13, bf16: false,");
    DeviceKind kind = ClusterYaml.read(Refusal.file(folder, "c.yaml", text)).device(0);
    assertEquals(14_500_000_000L, kind.deviceMemory().process().value());
    assertEquals(13_050_000_000L, kind.memory().value());
    assertEquals(5e13, kind.peak(Precision.TF32).value());
    assertEquals(false, kind.computes(Precision.BF16));
  }

  @Test
  void contextAndBuffersFitIntoTheMemory() {
    refused(
        "5: context and communication buffers take up all memory: reported=16000000000,"
            + " context=16000000000, communication=0",
        "memory_bytes: 16e9,",
        "memory_bytes: 16e9, context_bytes: 16e9,");
    refused(
        "5: 1.0 is all of it; write a share below 1",
        "memory_bytes: 16e9,",
        "memory_bytes: 16e9, memory_reserve: 1,");
  }

  @Test
  void twoKindsWithOneNameAreNotWritten() {
    DeviceKind one =
        new DeviceKind(
            "k", new Bytes(1), new FlopsPerSecond(1), new FlopsPerSecond(1), new BytesPerSecond(1));
    DeviceKind two =
        new DeviceKind(
            "k", new Bytes(2), new FlopsPerSecond(1), new FlopsPerSecond(1), new BytesPerSecond(1));
    Level level = new Level("node", Link.of(0, 1), Link.of(0, 1));
    Cluster cluster = new Cluster("c", List.of(one, two), List.of(level), List.of(List.of(2)));
    assertThrows(IllegalArgumentException.class, () -> ClusterYaml.text(cluster));
  }

  @Test
  void whatYamlHasBeyondJsonIsRefusedWhereItMisleads() {
    refused(
        "18: the alias *x is not supported; write the value out",
        "- kind: v100\n  - {kind: v100",
        "- kind: &x v100\n  - {kind: *x");
    refused(
        "3: the key \"version\" stands twice, first in line 2; keep one",
        "name:",
        "version: 2\nname:");
    refused(
        "20: a second value follows the first; a file holds one object",
        "count: 3}\n",
        "count: 3}\n---\na: 1\n");
  }

  @Test
  void brokenYamlIsRefusedInASentence() {
    for (String text :
        List.of(
            "",
            "a: [1\nb: 2\n",
            "a: b: c",
            "a:\n\t- b\n",
            "\0\1",
            "- 1\n",
            "just text",
            "? [x]\n: 1\n")) {
      Refusal.of(Refusal.file(folder, "c.yaml", text), ClusterYaml::read);
    }
    for (int end = 0; end < GOOD.length() - 20; end += 7) {
      Refusal.of(Refusal.file(folder, "c.yaml", GOOD.substring(0, end)), ClusterYaml::read);
    }
  }
}
