package dev.pipewright.formats.cluster;

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
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CollectiveTimingsTest {
  private static final String CSV =
      """
      time_us,devices,remark,bytes,machine
      10,2,first,1024,a
      12.5,4,second,2048,a
      20,4,third,4096,b
      """;

  @TempDir Path folder;

  private Path file(String text) {
    return Refusal.file(folder, "timings", text);
  }

  private static TimingSelection devices(int devices) {
    return new TimingSelection(Optional.empty(), OptionalInt.of(devices), Optional.empty());
  }

  private static TimingSelection machine(String machine) {
    return new TimingSelection(Optional.empty(), OptionalInt.empty(), Optional.of(machine));
  }

  private static TimingSelection collective(Kind kind) {
    return new TimingSelection(Optional.of(kind), OptionalInt.empty(), Optional.empty());
  }

  private List<CollectiveTiming> read(String text, TimingSelection selection) {
    return CollectiveTimings.read(file(text), selection).timings();
  }

  private void assertRefused(String expected, String text, TimingSelection selection) {
    Refusal.assertRefused(expected, file(text), path -> CollectiveTimings.read(path, selection));
  }

  /** So many ranks and two rows, the second of 1,000 µs, with a bus bandwidth of {@code ratio}. */
  private static String nccl(String before, int ranks, String operation, double ratio) {
    StringBuilder text = new StringBuilder(before);
    text.append("nThread 1 nGpus 1 minBytes 8 maxBytes 16\nUsing devices\n");
    for (int rank = 0; rank < ranks; rank++) {
      text.append(rank == 0 ? "  " : "#  ")
          .append(
              "Rank %2d Group  0 Pid   %d on node device  0 [0000:04:00] GPU\n"
                  .formatted(rank, 6899 + rank));
    }
    return text.append("#                      out-of-place                     in-place\n")
        .append(
            "#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n")
        .append("#   (B) (elements)                 (us)  (GB/s)  (GB/s)          (us)\n")
        .append(
            "      0      0  float  %s  5.0  0.00  0.00  0  5.1  0.00  0.00  0\n"
                .formatted(operation))
        .append(
            "   1024    256  float  %s  8.0  0.13  0.13  0  N/A  N/A   N/A  N/A\n"
                .formatted(operation))
        .append(
            String.format(
                Locale.ROOT,
                "1000000000 250 float %s 1000 1000.0 %.2f 0  1001  999.0 %.2f 0%n",
                operation,
                1000 * ratio,
                999 * ratio))
        .append("# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 70.742\n")
        .toString();
  }

  @Test
  void bothTimesOfNcclTestsAreReadAndEmptyMessagesSkipped() {
    String text = nccl("# Collective test starting: all_reduce_perf\n", 4, "sum -1", 1.5);
    assertEquals(
        List.of(
            new CollectiveTiming(Kind.ALL_REDUCE, 4, 1024, 8e-6),
            new CollectiveTiming(Kind.ALL_REDUCE, 4, 1e9, 1e-3),
            new CollectiveTiming(Kind.ALL_REDUCE, 4, 1e9, 1.001e-3)),
        read(text, TimingSelection.ALL));
  }

  @ParameterizedTest
  @CsvSource({
    "all_reduce, ALL_REDUCE",
    "all_gather, ALL_GATHER",
    "reduce_scatter, REDUCE_SCATTER",
    "alltoall, ALL_TO_ALL",
    "broadcast, BROADCAST",
    "reduce, REDUCE",
    "sendrecv, POINT_TO_POINT"
  })
  void everyProgramOfNcclTestsIsKnownByItsName(String program, Kind kind) {
    String text = nccl("$ mpirun ./build/" + program + "_perf -b 8\n", 2, "sum -1", 1);
    assertEquals(kind, read(text, TimingSelection.ALL).get(0).kind());
  }

  @ParameterizedTest
  @CsvSource({
    "8, sum -1, 1.75, ALL_REDUCE",
    "64, sum -1, 1.96875, ALL_REDUCE",
    "8, sum -1, 0.875, REDUCE_SCATTER",
    "2, sum -1, 0.5, REDUCE_SCATTER",
    "8, none -1, 0.875, ALL_GATHER",
    "64, none -1, 0.984375, ALL_GATHER",
    "8, none 0, 1, BROADCAST",
    "8, sum 0, 1, REDUCE",
    "8, sum -1, 1, POINT_TO_POINT",
  })
  void theRatioOfBandwidthsTellsTheCollectiveWhereNoNameDoes(
      int ranks, String operation, double ratio, Kind kind) {
    var timings = read(nccl("", ranks, operation, ratio), TimingSelection.ALL);
    assertEquals(kind, timings.get(0).kind());
    assertEquals(ranks, timings.get(0).devices());
  }

  @ParameterizedTest
  @CsvSource({
    "sum -1, 1, ALL_REDUCE",
    "sum -1, 0.5, REDUCE_SCATTER",
    "none -1, 0.5, ALL_GATHER",
    "none 0, 1, BROADCAST",
    "prod 1, 1, REDUCE",
  })
  void reductionRootAndRatioTellTheCollectivesOfTwo(String operation, double ratio, Kind kind) {
    assertEquals(kind, read(nccl("", 2, operation, ratio), TimingSelection.ALL).get(0).kind());
  }

  @Test
  void anAllReduceOfTwoLooksLikeMessagesWhichANoteSays() {
    String text = nccl("", 2, "sum -1", 1);
    MeasuredTimings taken = CollectiveTimings.read(file(text), TimingSelection.ALL);
    assertEquals(1, taken.notes().size());
    assertTrue(taken.notes().get(0).contains("--collective point_to_point"), taken.toString());
    MeasuredTimings named = CollectiveTimings.read(file(text), collective(Kind.POINT_TO_POINT));
    assertEquals(Kind.POINT_TO_POINT, named.timings().get(0).kind());
    assertEquals(List.of(), named.notes());
  }

  @Test
  void aRatioOfNoCollectiveNeedsAName() {
    String text = nccl("", 8, "sum -1", 1.3);
    assertRefused(
        "timings:14: does not say which collective it times; give --collective all_reduce, or"
            + " whichever it is",
        text.replace("  0      0  float", "  8      2  float"),
        TimingSelection.ALL);
    assertEquals(3, read(text, collective(Kind.ALL_REDUCE)).size());
  }

  @Test
  void runsOneAfterTheOtherAreToldApart() {
    String text =
        nccl("# Collective test starting: all_reduce_perf\n", 2, "sum -1", 1)
            + nccl("# Collective test starting: all_gather_perf\n", 4, "none -1", 0.75);
    var timings = read(text, TimingSelection.ALL);
    assertEquals(6, timings.size());
    assertEquals(new CollectiveTiming(Kind.ALL_REDUCE, 2, 1024, 8e-6), timings.get(0));
    assertEquals(new CollectiveTiming(Kind.ALL_GATHER, 4, 1024, 8e-6), timings.get(3));
    assertEquals(3, read(text, devices(4)).size());
    assertEquals(3, read(text, collective(Kind.ALL_REDUCE)).size());
    assertRefused(
        "timings:1: holds no timings of 8 devices; give --devices 2 or 4", text, devices(8));
    assertRefused(
        "timings:1: holds no timings of this collective; give --collective all_reduce or all_gather",
        text,
        collective(Kind.REDUCE));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "-1 1000 1000.0     | -1 -1000 1000.0 | 11: the time -1000 us is impossible",
        "N/A N/A N/A N/A    | N/A N/A N/A     | 10: 12 values stand under 13 headings",
        "N/A N/A N/A N/A    | N/A N/A N/A x   | 10: a value does not fit its heading",
        "N/A N/A N/A N/A    | 9 1 1 0 7       | 10: 14 values stand under 13 headings",
        "0.13 0.13 0 N/A    | 0.13 0.13 7 N/A | 10: 7 wrong results out of place",
        "0.13 0.13 0 N/A    | 0.13 0.13 1 N/A | 10: 1 wrong result out of place",
        "8.0 0.13 0.13 0    | 8.0 0.13 0.13 nan | 10: wrong results out of place",
      })
  void aRowThatCannotBeUsedIsLeftOutByLineAndReason(String good, String bad, String reason) {
    String text = nccl("all_reduce_perf\n", 2, "sum -1", 1).replaceAll(" +", " ");
    assertTrue(text.contains(good), text);
    MeasuredTimings read =
        CollectiveTimings.read(file(text.replace(good, bad)), TimingSelection.ALL);
    assertEquals(2, read.timings().size(), read.toString());
    LeftOut out = read.leftOut().get(read.leftOut().size() - 1);
    assertEquals(reason, out.line() + ": " + out.why());
    assertEquals("a message of 0 bytes", read.leftOut().get(0).why());
  }

  @Test
  void mistakesInNcclTestsAreNamed() {
    String good = nccl("all_reduce_perf\n", 2, "sum -1", 1);
    assertRefused(
        "timings:9: times a gather, which is not fitted; run all_reduce_perf or sendrecv_perf",
        good.replace("all_reduce_perf", "gather_perf"),
        TimingSelection.ALL);
    assertRefused(
        "timings:8: names one rank, which exchanges nothing; run on two or more, over several"
            + " processes with nccl-tests built for MPI",
        nccl("all_reduce_perf\n", 1, "sum -1", 1),
        TimingSelection.ALL);
    assertRefused(
        "timings:7: names no ranks; give their number: --devices N, a whole number >= 2",
        nccl("all_reduce_perf\n", 0, "sum -1", 1),
        TimingSelection.ALL);
    assertRefused(
        "timings:1: is the output of nccl-tests, which names no machine to choose; leave out"
            + " --machine",
        good,
        machine("a"));
  }

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
    Path file = file(osu(title, "1024     12.50    11.00   14.00   1000\n"));
    assertEquals(
        List.of(new CollectiveTiming(kind, 8, bytes, 12.5e-6)),
        CollectiveTimings.read(file, devices(8)).timings());
  }

  @Test
  void osuLatencyIsBetweenTwo() {
    Path file = file(osu("MPI Latency", "0    1.00\n1   1.25\n"));
    assertEquals(
        List.of(new CollectiveTiming(Kind.POINT_TO_POINT, 2, 1, 1.25e-6)),
        CollectiveTimings.read(file, TimingSelection.ALL).timings());
  }

  @Test
  void mistakesInOsuOutputAreNamed() {
    assertRefused(
        "timings:5: does not say how many ranks ran; give their number: --devices N, a whole number"
            + " >= 2",
        osu("MPI Allreduce Latency", "4  1.5\n"),
        TimingSelection.ALL);
    assertRefused(
        "timings:2: this is the table of the OSU test \"Bandwidth\": bandwidths of many messages in"
            + " flight, from which no latency follows; run osu_latency or osu_allreduce",
        osu("MPI Bandwidth", "4  1.5\n"),
        TimingSelection.ALL);
    assertRefused(
        "timings:2: the OSU test \"Non-blocking Allreduce Latency\" is not one that is read"
            + " here; run osu_latency, osu_allreduce, osu_allgather or osu_reduce_scatter",
        osu("MPI-CUDA Non-blocking Allreduce Latency", "4  1.5\n"),
        devices(2));
    assertRefused(
        "timings:5: has no time after the size; expected size and microseconds",
        osu("MPI Allreduce Latency", "4\n"),
        devices(2));
    assertRefused(
        "timings:5: the time 0.0 us is impossible; a time is a number from 1e-12 to 1e6 seconds",
        osu("MPI Allreduce Latency", "4 0.0\n"),
        devices(2));
    assertRefused(
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
        read(CSV, machine("a")));
    assertEquals(
        List.of(new CollectiveTiming(Kind.POINT_TO_POINT, 2, 8, 0.5)),
        read("bytes,seconds,collective\r\n8, 0.5,point_to_point\r\n", devices(2)));
    assertEquals(
        List.of(new CollectiveTiming(Kind.ALL_GATHER, 2, 8, 5e-9)),
        read("devices,bytes,time_ns\n2,8,5\n", collective(Kind.ALL_GATHER)));
  }

  @Test
  void mistakesInTablesAreNamed() {
    assertRefused(
        "timings:1: holds timings of 2 machines; choose one: --machine a or b",
        CSV,
        TimingSelection.ALL);
    assertRefused("timings:1: no machine \"c\"; did you mean \"a\"?", CSV, machine("c"));
    assertRefused(
        "timings:1: has no column machine; leave out --machine",
        CSV.replace("machine", "host"),
        machine("a"));
    assertRefused(
        "timings:1: has no column of times; expected one of seconds, time_us, time_ns",
        CSV.replace("time_us", "time"),
        machine("a"));
    assertRefused(
        "timings:1: has 2 columns of times; expected one of seconds, time_us, time_ns",
        CSV.replace("remark", "seconds"),
        machine("a"));
    assertRefused(
        "timings:1: has no column devices; add it or give --devices N",
        CSV.replace("devices", "gpus"),
        machine("a"));
    assertRefused(
        "timings:3: 4 values stand under 5 headings; expected one for each",
        CSV.replace("second,2048", "2048"),
        machine("a"));
    assertRefused(
        "timings:3: bytes=2k is no number; write digits, like 1048576 or 4.4e-5",
        CSV.replace("2048", "2k"),
        machine("a"));
    assertRefused(
        "timings:3: the size -2048.0 is no message; sizes are bytes > 0 and <= 1e18",
        CSV.replace("2048", "-2048"),
        machine("a"));
    assertRefused(
        "timings:3: the time 0 is impossible; a time is a number from 1e-12 to 1e6 seconds",
        CSV.replace("12.5", "0"),
        machine("a"));
    assertRefused(
        "timings:3: the time NaN is impossible; a time is a number from 1e-12 to 1e6 seconds",
        CSV.replace("12.5", "NaN"),
        machine("a"));
    assertRefused(
        "timings:2: devices=1 exchange nothing; measure 2 to 1,000,000 devices",
        CSV.replace("10,2", "10,1"),
        machine("a"));
    assertRefused(
        "timings:2: devices=2.5 is no number of devices; give a whole number >= 2",
        CSV.replace("10,2", "10,2.5"),
        machine("a"));
    assertRefused(
        "timings:2: unknown collective \"first\"; known here: all_reduce, all_gather,"
            + " reduce_scatter, all_to_all, broadcast, reduce, point_to_point",
        CSV.replace("remark", "collective"),
        machine("a"));
  }

  @Test
  void otherFilesAreRefused() {
    assertRefused(
        "timings:1: the file is empty; expected a table of timings", " \n\n", TimingSelection.ALL);
    assertRefused(
        "timings:1: is of no known format; expected times as nccl-tests or the OSU micro-benchmarks"
            + " print them, or a CSV with the columns devices, bytes and seconds, time_us or time_ns",
        "node1 -- layer\n",
        TimingSelection.ALL);
    assertRefused(
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
    Path example = file(section.substring(start, section.indexOf("```", start)));
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
