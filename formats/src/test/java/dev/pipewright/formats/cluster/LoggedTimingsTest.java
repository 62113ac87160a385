package dev.pipewright.formats.cluster;

import static dev.pipewright.formats.cluster.GivenTimings.collective;
import static dev.pipewright.formats.cluster.GivenTimings.devices;
import static dev.pipewright.formats.cluster.GivenTimings.refusal;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.file.Refusal;
import dev.pipewright.profile.CollectiveTiming;
import dev.pipewright.profile.CollectiveTiming.Kind;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Logs as launchers, terminals and shell loops leave them say the same as what the tools print. */
class LoggedTimingsTest {
  private static final int RANKS = 4;
  private static final int ROWS = 6;

  @TempDir private Path folder;

  private MeasuredTimings read(String text) {
    return read(text, TimingSelection.ALL);
  }

  private MeasuredTimings read(String text, TimingSelection selection) {
    return CollectiveTimings.read(Refusal.file(folder, "log", text), selection);
  }

  /** Rows in three pieces, as nccl-tests print them, joined by {@code between}. */
  private static String rows(String operation, double ratio, String between) {
    StringBuilder rows = new StringBuilder();
    for (int i = 0; i < ROWS; i++) {
      long bytes = 1L << (20 + i);
      double micros = 20 + bytes / 1e4;
      double rate = bytes / micros / 1e3;
      String half =
          String.format(Locale.ROOT, "  %8.2f %7.2f %7.2f      0", micros, rate, ratio * rate);
      rows.append(
          String.format(Locale.ROOT, "%12d %12d    float %7s", bytes, bytes / 4, operation));
      rows.append(between).append(half).append(between).append(half).append('\n');
    }
    return rows.toString();
  }

  private static String table(String operation, double ratio, String between) {
    return "#                                  out-of-place            in-place\n"
        + "#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n"
        + "#   (B) (elements)                 (us)  (GB/s)  (GB/s)       (us)  (GB/s)  (GB/s)\n"
        + rows(operation, ratio, between);
  }

  private static String run(int ranks, String operation, double ratio, String between) {
    StringBuilder text =
        new StringBuilder("# nThread 1 nGpus 1 minBytes 8 agg iters: 1 graph: 0\n#\n")
            .append("# Using devices\n");
    for (int rank = 0; rank < ranks; rank++) {
      text.append(
          "#  Rank %2d Group  0 Pid %d on node device %d [0000:04:00] NVIDIA H100\n"
              .formatted(rank, 100 + rank, rank));
    }
    return text
        + table(operation, ratio, between)
        + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 70.742\n#\n";
  }

  private static String allReduce() {
    return run(RANKS, "sum  -1", 1.5, "");
  }

  private List<CollectiveTiming> clean() {
    List<CollectiveTiming> clean = read(allReduce()).timings();
    assertEquals(2 * ROWS, clean.size());
    assertEquals(new CollectiveTiming(Kind.ALL_REDUCE, RANKS, 1 << 20, 124.86 / 1e6), clean.get(0));
    return clean;
  }

  private static UnaryOperator<String> eachLine(UnaryOperator<String> change) {
    return text -> text.lines().map(change).collect(Collectors.joining("\n"));
  }

  /**
   * What stands in front of each line, and of the pieces of a row where the launcher repeats it.
   */
  enum Launcher {
    OPEN_MPI_TAG("[1,0]<stdout>:"),
    PRRTE_TAG("[prterun-host-7@1,0]<stdout>: "),
    BRACKETS("[0]"),
    BRACKETS_AND_BLANK("[12] "),
    SRUN_LABEL("0: "),
    SRUN_WIDE_LABEL(" 3: "),
    TORCHRUN("[default0]:"),
    PDSH("node-17.cluster: "),
    KUBECTL_TIME("2026-03-01T10:11:12.123456789Z "),
    TIME_ZONE("2026-03-01T10:11:12+02:00 "),
    KUBECTL_PREFIX("[pod/nccl-launcher-x7/nccl] "),
    CALENDAR("Mon Apr 22 14:08:10 2024<stdout>:"),
    SYSLOG("Apr 22 14:08:10 node1 mpirun: "),
    CLOCK("14:08:10.123 "),
    TS("[2024-04-22 14:08:10] "),
    COMPOSE("nccl-1  | "),
    STERN("nccl-launcher-x7 nccl "),
    DOUBLED("[0] [1,0]<stdout>:"),
    MIXED("2026-03-01T10:11:12.123Z 0: [1,0]<stdout>:"),
    TAB("\t"),
    INDENTED("        ");

    private final String prefix;

    Launcher(String prefix) {
      this.prefix = prefix;
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatALauncherPutsInFrontOfLinesChangesNothing(Launcher launcher) {
    String log = eachLine(line -> launcher.prefix + line).apply(allReduce());
    assertEquals(clean(), read(log).timings());
    assertEquals(List.of(), read(log).leftOut());
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"SYSLOG", "STERN", "CLOCK", "CALENDAR", "TS"})
  void norDoesWhatItPutsInFrontOfEachPieceOfARow(Launcher launcher) {
    String log =
        eachLine(line -> launcher.prefix + line).apply(run(RANKS, "sum  -1", 1.5, launcher.prefix));
    assertEquals(clean(), read(log).timings());
  }

  @ParameterizedTest
  @EnumSource
  void norDoRowsThatAreBrokenIntoLines(Launcher launcher) {
    String log = eachLine(line -> launcher.prefix + line).apply(run(RANKS, "sum  -1", 1.5, "\n"));
    assertEquals(clean(), read(log).timings());
  }

  @Test
  void linesOfOthersMayStandBetweenRowsAndBetweenTheirPieces() {
    String info = "\nworker:1:1 [1] NCCL INFO comm 0x55d8 rank 0 nranks 4 - all_gather_perf\n";
    assertEquals(clean(), read(run(RANKS, "sum  -1", 1.5, info)).timings());
  }

  @Test
  void everyLineMayHaveAnotherPrefix() {
    String[] prefixes = {"0: ", "[0] ", "", "2026-03-01T10:11:12Z [1,0]<stdout>:", "\t"};
    int[] next = {0};
    String log = eachLine(line -> prefixes[next[0]++ % 5] + line).apply(allReduce());
    assertEquals(clean(), read(log).timings());
  }

  @Test
  void terminalsLeaveTheirTraces() {
    String dos = allReduce().replace("\n", "\r\n");
    String colours = eachLine(line -> "\u001B[1;32m" + line + "\u001B[0m\u001B[K").apply(dos);
    assertEquals(clean(), read("\u001B]0;title\u0007" + colours).timings());
    assertEquals(clean(), read(allReduce().replace("  ", "\t")).timings());
    assertEquals(clean(), read(allReduce().replace("# ", "").replace("#\n", "\n")).timings());
  }

  @Test
  void timeStampsOfRowsAreNoValues() {
    String log =
        allReduce()
            .replace("busbw #wrong\n", "busbw #wrong      timestamp\n")
            .replaceAll("(?m)^( +\\d.*)$", "$1   2026-11-01 12:00:00");
    assertEquals(clean(), read(log).timings());
    assertEquals(
        clean(), read(eachLine(line -> "2026-11-01T12:00:00Z " + line).apply(log)).timings());
  }

  @Test
  void iterationsOfRowsAreNoTimes() {
    String log =
        allReduce()
            .replace("#wrong", "#wrong  i_min  i_max  i_p99  i_cv%")
            .replaceAll("(?m)^( +\\d.*)( {2,}\\S+ +\\S+ +\\S+ +0)$", "$1 1 2 3 4 $2 1 2 3 4");
    assertEquals(clean(), read(log).timings());
  }

  @Test
  void timesOfTheProcessorAreLeftOut() {
    String cpu = table("sum  -1", 1.5, "").replace(" time ", " cputime ");
    MeasuredTimings both = read(allReduce() + "# Using devices\n# Rank 0 x\n# Rank 1 y\n" + cpu);
    assertEquals(clean(), both.timings());
    assertTrue(both.leftOut().get(0).why().contains("-C 1"), both.toString());
    String refusal = refusal(folder, "cpu", cpu);
    assertTrue(refusal.startsWith("cpu:2: ") && refusal.endsWith("run without -C 1"), refusal);
  }

  @Test
  void collectivesThatStartTogetherAreNoted() {
    MeasuredTimings read = read(allReduce().replace("agg iters: 1", "agg iters: 8"));
    assertTrue(read.notes().get(0).startsWith("8 collectives started together"), read.toString());
  }

  @Test
  void rowsOfOneTableMayBeOfSeveralCollectives() {
    String log =
        allReduce()
            + rows("sum  -1", 0.75, "")
            + rows("none  -1", 0.75, "")
            + rows("none  2", 1, "")
            + rows("sum  2", 1, "");
    String one = log.replaceAll("# Out of bounds.*\n# Avg.*\n#\n", "");
    MeasuredTimings all = read(one);
    assertEquals(3L * 2 * ROWS, all.timings().size());
    assertEquals(
        List.of(Kind.ALL_REDUCE, Kind.REDUCE_SCATTER, Kind.ALL_GATHER),
        all.timings().stream().map(CollectiveTiming::kind).distinct().toList());
    assertEquals(
        List.of(
            "12 timings of broadcast on 4 devices, whose chunks their times do not tell",
            "12 timings of reduce on 4 devices, whose chunks their times do not tell"),
        all.leftOut().stream().map(LeftOut::why).toList());
    MeasuredTimings scatter = read(one, collective(Kind.REDUCE_SCATTER));
    assertEquals(2 * ROWS, scatter.timings().size());
    assertEquals(4, scatter.leftOut().size());
  }

  @Test
  void runsWithoutNamesAreToldApart() {
    String log =
        "test 1\n"
            + run(2, "sum -1", 1, "")
            + "test 2\n"
            + run(2, "none 0", 1, "")
            + "test 3\n"
            + run(8, "sum -1", 0.875, "");
    MeasuredTimings read = read(log);
    assertEquals(
        List.of("ALL_REDUCE 2", "REDUCE_SCATTER 8"),
        read.timings().stream().map(t -> t.kind() + " " + t.devices()).distinct().toList());
  }

  @Test
  void aRunThatCrashedBeforeItsRowsLendsItsRanksToNone() {
    String crashed =
        run(8, "sum -1", 1.75, "").replaceAll("(?m)^ +\\d.*\n", "").replaceAll("# Out.*", "");
    assertEquals(clean(), read(crashed + "Test failure common.cu:1021\n" + allReduce()).timings());
  }

  @Test
  void aRunThatFailedIsLeftOutWhole() {
    String failed =
        allReduce().replace("values : 0 OK", "values : 3 FAILED").replaceAll("     0\\b", "   N/A");
    MeasuredTimings read = read(failed + allReduce());
    assertEquals(clean(), read.timings());
    assertEquals("the check of the results FAILED in a run of 6 rows", read.leftOut().get(0).why());
    String refusal = refusal(folder, "failed", failed);
    assertEquals(
        "failed:17: the check of the results FAILED in a run of 6 rows; find out why and measure"
            + " again",
        refusal);
  }

  @Test
  void oldVersionsHaveOtherHeadings() {
    String old =
        allReduce()
            .replace("size  count  type  redop  root", "bytes  N  type  op")
            .replace("#wrong", "res")
            .replace("  -1", "")
            .replaceAll("      0\\b", "  2e-07");
    assertEquals(clean(), read(old).timings());
  }

  @Test
  void aTableWithoutTimesIsNamed() {
    String text = "# size algbw busbw\n 1024 0.13 0.13\n";
    String refusal = refusal(folder, "bw", text);
    assertEquals(
        "bw:1: this is a table of nccl-tests without its times, of bandwidths only; keep the column"
            + " time",
        refusal);
  }

  private static String osu(String title, String headings, String... rows) {
    return "\n# OSU MPI"
        + title
        + " Test v7.3\n# Size  "
        + headings
        + "\n"
        + String.join("\n", rows)
        + "\n";
  }

  @Test
  void aBandwidthTableStandsNextToAUsableOne() {
    String log =
        osu(" Bandwidth", "Bandwidth (MB/s)", "1 2.5", "2 5.0")
            + osu("-CUDA Latency", "Avg Latency(us)", "1 1.25", "2 1.5", "4 1.75")
            + osu(" Multiple Bandwidth / Message Rate", "MB/s  Messages/s", "1 2 3");
    MeasuredTimings read = read(log);
    assertEquals(3, read.timings().size());
    assertEquals(List.of(2, 13), read.leftOut().stream().map(LeftOut::line).toList());
    assertTrue(read.leftOut().get(0).why().contains("OSU test \"Bandwidth\""), read.toString());
  }

  @Test
  void tablesOfBothToolsStandInOneFile() {
    String log =
        allReduce() + osu(" Allgather Latency", "Avg Latency(us)", "8 1", "16 2") + allReduce();
    assertEquals(4L * ROWS + 2, read(log, devices(RANKS)).timings().size());
  }

  @Test
  void osuRowsAreReadThroughPrefixesAndWarnings() {
    String table =
        osu(
            " Allreduce Latency",
            "Avg Latency(us)  Validation",
            "4 1.5 Pass",
            "8 1.6 Fail",
            "16 1.7 Pass");
    String log =
        eachLine(line -> "[1,0]<stdout>: " + line)
            .apply(table.replace("8 1.6", "[a:0] 5 evicted\n8 1.6"));
    MeasuredTimings read = read(log, devices(2));
    assertEquals(List.of(4.0, 16.0), read.timings().stream().map(CollectiveTiming::bytes).toList());
    assertEquals(
        List.of(new LeftOut(6, "the validation failed", "find out why and measure again")),
        read.leftOut());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "GPU0     X      NV18    NV18                 | nvidia-smi topo",
        "#bytes  #iterations  BW peak[MB/sec]  BW av  | perftest",
        "#   Intel(R) MPI Benchmarks 2021.8, MPI-1    | Intel MPI Benchmarks",
        "Unidirectional P2P=Disabled Bandwidth Matrix | p2pBandwidthLatencyTest",
        "nvbandwidth Version: v0.4                    | bandwidth table of CUDA copies",
        "[ ID] Interval           Transfer  Bitrate   | iperf",
      })
  void filesOfOtherToolsAreNamed(String text, String tool) {
    String refusal = refusal(folder, "other", "first\n" + text + "\n");
    assertTrue(refusal.startsWith("other:2: is ") && refusal.contains(tool), refusal);
    assertTrue(refusal.contains("; expected times"), refusal);
  }
}
