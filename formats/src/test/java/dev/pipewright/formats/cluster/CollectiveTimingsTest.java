package dev.pipewright.formats.cluster;

import static dev.pipewright.formats.cluster.GivenTimings.assertRefused;
import static dev.pipewright.formats.cluster.GivenTimings.collective;
import static dev.pipewright.formats.cluster.GivenTimings.devices;
import static dev.pipewright.formats.cluster.GivenTimings.file;
import static dev.pipewright.formats.cluster.GivenTimings.machine;
import static dev.pipewright.formats.cluster.GivenTimings.read;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.file.Refusal;
import dev.pipewright.profile.CollectiveTiming;
import dev.pipewright.profile.CollectiveTiming.Kind;
import dev.pipewright.profile.LinkFit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Timings as the OSU micro-benchmarks print them and as tables, and the fit to them. */
class CollectiveTimingsTest {
  private static final String CSV =
      """
      time_us,devices,remark,bytes,machine
      10,2,first,1024,a
      12.5,4,second,2048,a
      20,4,third,4096,b
      """;

  @TempDir private Path folder;

  private static String osu(String title, String rows) {
    return "\n# OSU "
        + title
        + " Test v7.3\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n"
        + rows;
  }

  @ParameterizedTest
  @CsvSource({
    "MPI Allreduce Latency, ALL_REDUCE, 1024",
    "MPI-CUDA Allreduce Latency, ALL_REDUCE, 1024",
    "NCCL-CUDA Allreduce Latency, ALL_REDUCE, 1024",
    "MPI Allgather Latency, ALL_GATHER, 8192",
    "MPI Reduce_scatter Latency, REDUCE_SCATTER, 1024",
    "MPI All-to-All Personalized Exchange Latency, ALL_TO_ALL, 8192",
    "MPI Broadcast Latency, BROADCAST, 1024",
    "MPI Reduce Latency, REDUCE, 1024",
  })
  void osuSizesBecomeTheWholeOfWhatIsExchanged(String title, Kind kind, double bytes) {
    Path file = file(folder, osu(title, "1024     12.50    11.00   14.00   1000\n"));
    assertEquals(
        List.of(new CollectiveTiming(kind, 8, bytes, 12.5e-6)),
        CollectiveTimings.read(file, devices(8)).timings());
  }

  @Test
  void osuLatencyIsBetweenTwo() {
    Path file = file(folder, osu("MPI Latency", "0    1.00\n1   1.25\n"));
    assertEquals(
        List.of(new CollectiveTiming(Kind.POINT_TO_POINT, 2, 1, 1.25e-6)),
        CollectiveTimings.read(file, TimingSelection.ALL).timings());
  }

  @Test
  void mistakesInOsuOutputAreNamed() {
    assertRefused(
        folder,
        "timings:5: does not say how many ranks ran; give their number: --devices N, a whole number"
            + " >= 2",
        osu("MPI Allreduce Latency", "4  1.5\n"),
        TimingSelection.ALL);
    assertRefused(
        folder,
        "timings:2: this is the table of the OSU test \"Bandwidth\": bandwidths of many messages in"
            + " flight, from which no latency follows; run osu_latency or osu_allreduce",
        osu("MPI Bandwidth", "4  1.5\n"),
        TimingSelection.ALL);
    assertRefused(
        folder,
        "timings:2: the OSU test \"Non-blocking Allreduce Latency\" is not one that is read"
            + " here; run osu_latency, osu_allreduce, osu_allgather or osu_reduce_scatter",
        osu("MPI-CUDA Non-blocking Allreduce Latency", "4  1.5\n"),
        devices(2));
    assertRefused(
        folder,
        "timings:5: has no time after the size; expected size and microseconds",
        osu("MPI Allreduce Latency", "4\n"),
        devices(2));
    assertRefused(
        folder,
        "timings:5: the time 0.0 us is impossible; a time is a number from 1e-12 to 1e6 seconds",
        osu("MPI Allreduce Latency", "4 0.0\n"),
        devices(2));
    assertRefused(
        folder,
        "timings:1: holds no timings; expected a row for each size",
        osu("MPI Allreduce Latency", ""),
        devices(2));
  }

  @Test
  void columnsAreFoundByName() {
    assertEquals(
        List.of(
            new CollectiveTiming(Kind.ALL_REDUCE, 2, 1024, 1e-5),
            new CollectiveTiming(Kind.ALL_REDUCE, 4, 2048, 12.5e-6)),
        read(folder, CSV, machine("a")));
    assertEquals(
        List.of(new CollectiveTiming(Kind.POINT_TO_POINT, 2, 8, 0.5)),
        read(folder, "bytes,seconds,collective\r\n8, 0.5,point_to_point\r\n", devices(2)));
    assertEquals(
        List.of(new CollectiveTiming(Kind.ALL_GATHER, 2, 8, 5e-9)),
        read(folder, "devices,bytes,time_ns\n2,8,5\n", collective(Kind.ALL_GATHER)));
  }

  @Test
  void mistakesInTablesAreNamed() {
    assertRefused(
        folder,
        "timings:1: holds timings of 2 machines; choose one: --machine a or b",
        CSV,
        TimingSelection.ALL);
    assertRefused(folder, "timings:1: no machine \"c\"; did you mean \"a\"?", CSV, machine("c"));
    assertRefused(
        folder,
        "timings:1: has no column machine; leave out --machine",
        CSV.replace("machine", "host"),
        machine("a"));
    assertRefused(
        folder,
        "timings:1: has no column of times; expected one of seconds, time_us, time_ns",
        CSV.replace("time_us", "time"),
        machine("a"));
    assertRefused(
        folder,
        "timings:1: has 2 columns of times; expected one of seconds, time_us, time_ns",
        CSV.replace("remark", "seconds"),
        machine("a"));
    assertRefused(
        folder,
        "timings:1: has no column devices; add it or give --devices N",
        CSV.replace("devices", "gpus"),
        machine("a"));
    assertRefused(
        folder,
        "timings:3: 4 values stand under 5 headings; expected one for each",
        CSV.replace("second,2048", "2048"),
        machine("a"));
    assertRefused(
        folder,
        "timings:3: bytes=2k is no number; write digits, like 1048576 or 4.4e-5",
        CSV.replace("2048", "2k"),
        machine("a"));
    assertRefused(
        folder,
        "timings:3: the size -2048.0 is no message; sizes are bytes > 0 and <= 1e18",
        CSV.replace("2048", "-2048"),
        machine("a"));
    assertRefused(
        folder,
        "timings:3: the time 0 is impossible; a time is a number from 1e-12 to 1e6 seconds",
        CSV.replace("12.5", "0"),
        machine("a"));
    assertRefused(
        folder,
        "timings:3: the time NaN is impossible; a time is a number from 1e-12 to 1e6 seconds",
        CSV.replace("12.5", "NaN"),
        machine("a"));
    assertRefused(
        folder,
        "timings:2: devices=1 exchange nothing; measure 2 to 1,000,000 devices",
        CSV.replace("10,2", "10,1"),
        machine("a"));
    assertRefused(
        folder,
        "timings:2: devices=2.5 is no number of devices; give a whole number >= 2",
        CSV.replace("10,2", "10,2.5"),
        machine("a"));
    assertRefused(
        folder,
        "timings:2: unknown collective \"first\"; known here: all_reduce, all_gather,"
            + " reduce_scatter, all_to_all, broadcast, reduce, point_to_point",
        CSV.replace("remark", "collective"),
        machine("a"));
  }

  @Test
  void otherFilesAreRefused() {
    assertRefused(
        folder,
        "timings:1: the file is empty; expected a table of timings",
        " \n\n",
        TimingSelection.ALL);
    assertRefused(
        folder,
        "timings:1: is of no known format; expected times as nccl-tests or the OSU micro-benchmarks"
            + " print them, or a CSV with the columns devices, bytes and seconds, time_us or time_ns",
        "node1 -- layer\n",
        TimingSelection.ALL);
    assertRefused(
        folder,
        "timings:1: is not a table of timings; the file holds bytes that are not text",
        "\u0000\u0001",
        TimingSelection.ALL);
    String missing =
        Refusal.of(
            folder.resolve("none"), path -> CollectiveTimings.read(path, TimingSelection.ALL));
    assertEquals("none: no such file; give the path of an existing file", missing);
  }

  @Test
  void theExampleOfTheDocumentationIsRead() throws IOException {
    Path docs =
        Stream.of("../docs/formats.md", "docs/formats.md")
            .map(Path::of)
            .filter(Files::exists)
            .findFirst()
            .orElseThrow();
    String text = Files.readString(docs);
    String section = text.substring(text.indexOf("\n## Timings of collectives\n"));
    int start = section.indexOf("```csv\n") + 7;
    Path example = file(folder, section.substring(start, section.indexOf("```", start)));
    assertEquals(4, CollectiveTimings.read(example, machine("mine")).timings().size());
  }

  @Test
  void theFitIsWrittenWithItsResiduals() {
    List<CollectiveTiming> timings =
        Stream.of(1e3, 1e4, 1e5, 1e6)
            .map(m -> new CollectiveTiming(Kind.ALL_REDUCE, 4, m, 6 * (1e-5 + m / 4 * 1e-10)))
            .toList();
    LinkFit fit = LinkFit.of(timings);
    var context =
        new LinkFitJson.Context(
            "some.txt",
            timings,
            List.of(new LeftOut(17, "2 wrong results", "measure again")),
            fit,
            new TreeMap<>(LinkFit.byDevices(timings)),
            Optional.of("dapple-a"),
            Optional.of("node"));
    String text = LinkFitJson.textWithResiduals(context);
    for (String part :
        List.of(
            "\"source\": \"some.txt\"",
            "\"cluster\": \"dapple-a\"",
            "\"collectives\": [\"all_reduce\"]",
            "\"timings\": 4",
            "\"by_devices\"",
            "\"left_out\": [{\"line\": 17, \"why\": \"2 wrong results\"}]",
            "\"residuals\"")) {
      assertTrue(text.contains(part), text);
    }
    assertEquals(4, text.split("\"measured_s\"", -1).length - 1);
    assertTrue(!LinkFitJson.text(context).contains("residuals"));
  }
}
