package dev.pipewright.formats.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.AllReduceAlgorithm;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Link;
import dev.pipewright.cluster.MessageOverhead;
import dev.pipewright.cluster.Software;
import dev.pipewright.formats.file.Refusal;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a cluster file may say of its links and software beyond one rate: all of it optional. */
class ClusterYamlRatesTest {
  private static final String GOOD = ClusterYamlTest.GOOD;

  @TempDir Path folder;

  private void refused(String expected, String from, String to) {
    assertTrue(GOOD.contains(from), from);
    Path file = Refusal.file(folder, "c.yaml", GOOD.replace(from, to));
    Refusal.assertRefused("c.yaml:" + expected, file, ClusterYaml::read);
  }

  private static final String PORTS =
      "    collective: {latency_s: 5e-5, bytes_per_s: 2e9}\n    groups: [4]";

  private static String small(String pieces) {
    return PORTS.replace("2e9}", "2e9, small: [" + pieces + "]}");
  }

  @Test
  void aLevelMayHavePortsAndALinkConstantsForSmallMessages() {
    String pieces =
        "{up_to_bytes: 4096, latency_s: 1e-5, bytes_per_s: 5e8}, "
            + "{up_to_bytes: 1e5, latency_s: 0, bytes_per_s: 1e9}";
    String written = small(pieces).replace("    groups", "    ports: 1.5\n    groups");
    Path file = Refusal.file(folder, "c.yaml", GOOD.replace(PORTS, written));
    Cluster cluster = ClusterYaml.read(file);
    assertEquals(1, cluster.levels().get(0).ports());
    assertEquals(1.5, cluster.levels().get(1).ports());
    Link link = cluster.levels().get(1).collective();
    assertEquals(1e-5 + 4096 / 5e8, link.seconds(4096));
    assertEquals(5000 / 1e9, link.seconds(5000));
    assertEquals(5e-5 + 1e6 / 2e9, link.seconds(1e6));
    String text = ClusterYaml.text(cluster);
    assertTrue(text.contains("    ports: 1.5\n    groups: 2\n"), text);
    assertTrue(
        text.contains("small: [{up_to_bytes: 4096.0, latency_s: 1.0E-5, bytes_per_s: 5.0E8}, "),
        text);
    assertEquals(text.indexOf("ports"), text.lastIndexOf("ports"));
    assertEquals(text.indexOf("small"), text.lastIndexOf("small"));
  }

  @Test
  void whatRunsAchievedIsReadAndWritten() {
    String text = GOOD.replace(PORTS, PORTS + "\n    achieved: 0.5");
    text +=
        "software: {waiting_share: 0.1, all_reduce: ring, fuses_groups: false, fast_convolutions: false, overlap: 0.25, "
            + "message_overhead: {per_message_s: 2e-4, per_byte_s: 1e-10}}\n";
    Cluster cluster = ClusterYaml.read(Refusal.file(folder, "c.yaml", text));
    assertEquals(1, cluster.levels().get(0).achieved());
    assertEquals(0.5, cluster.levels().get(1).achieved());
    MessageOverhead overhead = new MessageOverhead(2e-4, 1e-10);
    assertEquals(
        new Software(0.1, AllReduceAlgorithm.RING, false, false, 0.25, overhead, Optional.empty()),
        cluster.software());
    Path written = Refusal.file(folder, "again.yaml", ClusterYaml.text(cluster));
    assertEquals(cluster, ClusterYaml.read(written));
  }

  @Test
  void sumsOverlapAtMostWhollyWithComputing() {
    String text = GOOD + "software: {overlap: 1.5}\n";
    Refusal.assertRefused(
        "c.yaml:"
            + text.lines().count()
            + ": 1.5 is more than all of it; write a share from 0 to 1",
        Refusal.file(folder, "c.yaml", text),
        ClusterYaml::read);
  }

  @Test
  void aLevelAchievesNoMoreThanItsRate() {
    refused(
        "16: 1.5 is more than all of the rate; write a share up to 1",
        PORTS,
        PORTS + "\n    achieved: 1.5");
  }

  @Test
  void portsMustBePositive() {
    for (String ports : List.of("0", "-2")) {
      refused(
          "16: levels[1].ports is the number " + ports + "; expected 1e-9 to 1e9",
          PORTS,
          PORTS + "\n    ports: " + ports);
    }
    refused(
        "16: levels[1].ports is the text \"two\"; expected 1e-9 to 1e9",
        PORTS,
        PORTS + "\n    ports: two");
  }

  @Test
  void constantsForSmallMessagesMustAscendAndMakeSense() {
    String place = "14: levels[1].collective.small";
    String good = "{up_to_bytes: 4096, latency_s: 1e-5, bytes_per_s: 5e8}";
    for (String size : List.of("4096", "100")) {
      refused(
          place
              + "[1].up_to_bytes is not above the 4096.0 before it; list the pieces by size,"
              + " smallest first",
          PORTS,
          small(good + ", " + good.replace("4096", size)));
    }
    refused(
        place + "[0].bytes_per_s is the number 0; expected 0.001 to 1e18 bytes per second",
        PORTS,
        small(good.replace("5e8", "0")));
    refused(
        place + "[0].latency_s is the number -1e-5; expected 0 or 1e-18 to 1e9 seconds",
        PORTS,
        small(good.replace("1e-5", "-1e-5")));
    refused(
        place + "[0].up_to_bytes is the number 0; expected 1e-9 to 1e15 bytes",
        PORTS,
        small(good.replace("4096", "0")));
    refused(
        "14: the key \"bytes_per_s\" is missing in levels[1].collective.small[0]; add it",
        PORTS,
        small("{up_to_bytes: 4096, latency_s: 1e-5}"));
    refused(
        "14: unknown key \"upto\" in levels[1].collective.small[0]; known here: up_to_bytes,"
            + " latency_s, bytes_per_s",
        PORTS,
        small("{upto: 4096}"));
    refused(
        "14: levels[1].collective.small is the number 5; expected a list",
        PORTS,
        PORTS.replace("2e9}", "2e9, small: 5}"));
  }
}
