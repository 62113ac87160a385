package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.app.cli.catalog.CalibrateCommand;
import dev.pipewright.app.cli.input.OptionValues;
import dev.pipewright.app.cli.terminal.Failures;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Link;
import dev.pipewright.formats.cluster.ClusterYaml;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class CalibrateCommandTest {
  @TempDir Path folder;

  private static Cli calibrate(Object... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line = new CommandLine(new CalibrateCommand());
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    Failures failures = new Failures();
    line.setParameterExceptionHandler(failures);
    line.setExecutionExceptionHandler(failures);
    OptionValues.register(line);
    String[] words = new String[args.length];
    for (int i = 0; i < args.length; i++) {
      words[i] = args[i].toString();
    }
    int status = line.execute(words);
    return new Cli(status, out.toString(), err.toString());
  }

  /** All-reduces of 1 KiB to 1 GiB in a ring over a link of one pair of constants. */
  private Path timings(double latency, double bytesPerSecond, int... devices) {
    return timings("all_reduce", latency, bytesPerSecond, devices);
  }

  private Path timings(String kind, double latency, double bytesPerSecond, int... devices) {
    StringBuilder text = new StringBuilder("collective,devices,bytes,seconds\n");
    for (int p : devices) {
      for (double m = 1024; m <= 0x1p30; m *= 2) {
        double steps = kind.equals("all_reduce") ? 2 * (p - 1) : 1;
        double message = kind.equals("all_reduce") ? m / p : m;
        text.append(
            String.format(
                Locale.ROOT,
                "%s,%d,%.0f,%.17g%n",
                kind,
                p,
                m,
                steps * (latency + message / bytesPerSecond)));
      }
    }
    return Cli.file(folder, kind + latency + ".csv", text.toString());
  }

  /** A link that is much slower for messages over 1 MiB of a step. */
  private Path twoPieces() {
    StringBuilder text = new StringBuilder("devices,bytes,seconds\n");
    for (double m = 1024; m <= 0x1p32; m *= 2) {
      double seconds = m / 2 <= 0x1p20 ? 1e-5 + m / 2 / 1e11 : 3e-5 + m / 2 / 4e10;
      text.append(String.format(Locale.ROOT, "2,%.0f,%.17g%n", m, 2 * seconds));
    }
    return Cli.file(folder, "pieces.csv", text.toString());
  }

  @Test
  void theConstantsOfTheLinkArePrinted() {
    Cli run = calibrate(timings(1.234e-5, 1.234e11, 4)).ends(0);
    assertTrue(
        run.out().contains("21 timings of all_reduce on 4 devices, 1.00 KiB to 1.00 GiB"),
        run.out());
    assertTrue(run.out().contains("12.3 µs   123 GB/s  0.0 %    0.0 %  100.0 %"), run.out());
    assertEquals("", run.err());
  }

  @Test
  void piecesAndNumbersOfDevicesArePrinted() {
    assertTrue(calibrate(twoPieces()).ends(0).out().contains("    up to "));
    String out = calibrate(timings(1e-5, 1e11, 2, 8)).ends(0).out();
    assertTrue(out.lines().anyMatch(line -> line.startsWith("        8       21")), out);
    assertTrue(out.lines().anyMatch(line -> line.startsWith("      all       42")), out);
    assertTrue(out.lines().skip(1).allMatch(line -> line.length() <= 90), out);
  }

  @Test
  void jsonIsOneObject() {
    JsonNode json = calibrate(timings(1e-5, 1e11, 2, 8), "--json").ends(0).json();
    assertEquals(1e-5, json.at("/line/latency_s").asDouble(), 1e-13);
    assertEquals(1e11, json.at("/pieces/bytes_per_s").asDouble(), 1e3);
    assertEquals(8, json.at("/by_devices/1/devices").asInt());
    assertEquals(42, json.at("/timings").asInt());
    assertEquals(
        2,
        calibrate(twoPieces(), "--json").ends(0).json().at("/pieces/small/0").isMissingNode()
            ? 0
            : 2);
  }

  /** One time of fifty, of 64 bytes, is far longer than its neighbours'. */
  private Path disturbed() {
    List<String> rows = new ArrayList<>(Cli.text(timings(1e-5, 1e11, 4, 8)).lines().toList());
    List<String> cells = new ArrayList<>(List.of(rows.get(5).split(",", -1)));
    cells.set(3, "0.01");
    rows.set(5, String.join(",", cells));
    return Cli.file(folder, "disturbed.csv", String.join("\n", rows) + "\n");
  }

  @Test
  void aDisturbedTimingIsLeftOutAndListed() {
    JsonNode json = calibrate(disturbed(), "--json").ends(0).json();
    assertEquals(41, json.at("/timings").asInt());
    assertEquals(1e-5, json.at("/line/latency_s").asDouble(), 1e-13);
    assertEquals(6, json.at("/left_out/0/line").asInt());
    assertEquals(1, json.at("/left_out").size());
    String out = calibrate(disturbed()).ends(0).out();
    assertTrue(out.contains("left out:" + System.lineSeparator() + "  line 6: 10 ms is "), out);
    assertTrue(
        calibrate(timings(1e-5, 1e11, 8), "--json").ends(0).json().at("/left_out").isEmpty());
  }

  /** Messages of 32 KiB to 1 MiB are slower than all larger ones up to 4 MiB. */
  @Test
  void aLatencyThatFallsWhereAnotherProtocolSetsInIsFitted() {
    StringBuilder text = new StringBuilder("devices,bytes,seconds\n");
    for (double m = 8; m <= 0x1p30; m *= 2) {
      double latency = m < 0x1p15 ? 1e-5 : m <= 0x1p20 ? 4e-4 : 2e-5;
      text.append(String.format(Locale.ROOT, "2,%.0f,%.9g%n", m, latency + m / 1e10));
    }
    JsonNode json =
        calibrate(Cli.file(folder, "falls.csv", text.toString()), "--json").ends(0).json();
    assertEquals(28, json.at("/timings").asInt());
    assertTrue(json.at("/left_out").isEmpty());
    assertEquals(1e10, json.at("/pieces/bytes_per_s").asDouble(), 1e5);
  }

  @Test
  void linesThatFollowOneAnotherAreListedTogether() {
    String log =
        """
        # OSU MPI Latency Test v7.3
        # Size       Avg Latency(us)
        0    1.00
        0    1.00
        1    1.25
        2    1.50
        4    2.00
        # OSU MPI Bandwidth Test v7.3
        """;
    String out = calibrate(Cli.file(folder, "osu.txt", log)).ends(0).out();
    assertTrue(out.contains("  lines 3 to 4: a message of 0 bytes"), out);
    assertTrue(out.contains("  line 8: this is the table of the OSU test \"Bandwidth\""), out);
  }

  @Test
  void devicesChoosesAmongTimings() {
    JsonNode json = calibrate(timings(1e-5, 1e11, 2, 8), "--devices", "8", "--json").ends(0).json();
    assertEquals(21, json.at("/timings").asInt());
  }

  @Test
  void aNoteSaysThatTheNumbersOfDevicesDiffer() {
    String one = Cli.text(timings(1e-5, 1e11, 2));
    String other = Cli.text(timings(3e-5, 1e10, 8));
    Path both = Cli.file(folder, "both.csv", one + other.substring(other.indexOf('\n') + 1));
    Cli run = calibrate(both).ends(0);
    assertTrue(
        run.err().contains("differ with the number of devices")
            && run.err().contains("--devices 8"),
        run.err());
  }

  @Test
  void outWritesAClusterWithTheFittedCollective() {
    Path cluster = Cli.file(folder, "mine.yaml", Cli.cluster());
    Path out = folder.resolve("out");
    Path file = timings(2e-5, 7e10, 2);
    calibrate(file, "--cluster", cluster, "--level", "node", "--out", out, "--json").ends(0);
    Cluster before = ClusterYaml.read(cluster);
    Cluster after = ClusterYaml.read(out.resolve("cluster.yaml"));
    Link fitted = after.levels().get(0).collective();
    assertEquals(2e-5, fitted.latency().value(), 1e-13);
    assertEquals(7e10, fitted.bandwidth().value(), 1e3);
    assertEquals(before.levels().get(0).pointToPoint(), after.levels().get(0).pointToPoint());
    assertEquals(before.levels().get(1), after.levels().get(1));
    assertEquals(before.devices(), after.devices());
    assertEquals("small (node fitted)", after.name());
    JsonNode fit = JsonMapper.shared().readTree(Cli.text(out.resolve("fit.json")));
    assertEquals(21, fit.at("/residuals").size());
    assertEquals(file.toString(), fit.at("/source").asString());
    assertEquals("node", fit.at("/level").asString());
    calibrate(file, "--cluster", cluster, "--level", "node", "--out", out).ends(0); // its own
  }

  @Test
  void pointToPointTimingsFitThePort() {
    Path cluster = Cli.file(folder, "mine.yaml", Cli.cluster());
    Path out = folder.resolve("out");
    Path file = timings("point_to_point", 2e-5, 7e10, 2);
    calibrate(file, "--cluster", cluster, "--level", "cluster", "--out", out).ends(0);
    Cluster after = ClusterYaml.read(out.resolve("cluster.yaml"));
    assertEquals(7e10, after.levels().get(1).pointToPoint().bandwidth().value(), 1e3);
    assertEquals(3e9, after.levels().get(1).collective().bandwidth().value());
  }

  @Test
  void withoutAClusterOnlyTheFitIsWrittenAndWithoutOutNothing() {
    Path out = folder.resolve("out");
    Path file = timings(2e-5, 7e10, 2);
    calibrate(file, "--out", out).ends(0);
    assertTrue(Files.exists(out.resolve("fit.json")));
    assertFalse(Files.exists(out.resolve("cluster.yaml")));
    Path cluster = Cli.file(folder, "mine.yaml", Cli.cluster());
    String before = Cli.text(cluster);
    calibrate(file, "--cluster", cluster, "--level", "node").ends(0);
    assertEquals(before, Cli.text(cluster));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--devices 1                         | --devices: 1 exchange nothing",
        "--devices 3                         | give --devices 8",
        "--collective allreduce              | did you mean \"all_reduce\"?",
        "--collective broadcast              | give --collective all_reduce",
        "--machine a100                      | has no column machine",
        "--level node                        | add --cluster C",
        "--cluster dapple-a                  | --level node or cluster",
        "--cluster dapple-a --level nod      | did you mean \"node\"?",
        "--cluster dapple-z --level node     | no cluster 'dapple-z'",
        "--cluster dapple-a:2x4 --level node | 8 devices were measured, but a node has 4",
      })
  void wrongOptionsAreRefusedInASentence(String options, String part) {
    Path file = timings(1e-5, 1e11, 8);
    Object[] words = (file + " " + options).split(" ", -1);
    calibrate(words).refusal(Failures.WRONG_INPUT, part);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "2,8,1                     | say nothing of latency and bandwidth",
        "2,8,1;2,8,2               | say nothing of latency and bandwidth",
        "2,8,9;2,80,5;2,800,2      | times fall with the size",
        "2,8,1;2,16,1;2,32,1       | times do not grow with the size",
        "2,8,0                     | :2: the time 0 is impossible",
        "2,8,-1                    | :2: the time -1 is impossible",
        "1,8,1                     | :2: devices=1 exchange nothing",
      })
  void timingsWithoutConstantsAreRefusedInASentence(String rows, String part) {
    Path file =
        Cli.file(folder, "bad.csv", "devices,bytes,seconds\n" + rows.replace(';', '\n') + "\n");
    calibrate(file, "--out", folder.resolve("out")).refusal(Failures.WRONG_INPUT, part, "bad.csv");
    assertFalse(Files.exists(folder.resolve("out")));
  }
}
