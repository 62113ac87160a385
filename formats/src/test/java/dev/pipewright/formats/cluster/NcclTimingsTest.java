package dev.pipewright.formats.cluster;

import static dev.pipewright.formats.cluster.GivenTimings.assertRefused;
import static dev.pipewright.formats.cluster.GivenTimings.collective;
import static dev.pipewright.formats.cluster.GivenTimings.devices;
import static dev.pipewright.formats.cluster.GivenTimings.file;
import static dev.pipewright.formats.cluster.GivenTimings.machine;
import static dev.pipewright.formats.cluster.GivenTimings.read;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.profile.CollectiveTiming;
import dev.pipewright.profile.CollectiveTiming.Kind;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Timings as nccl-tests print them. */
class NcclTimingsTest {
  @TempDir private Path folder;

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
        read(folder, text, TimingSelection.ALL));
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
    assertEquals(kind, read(folder, text, TimingSelection.ALL).get(0).kind());
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
    var timings = read(folder, nccl("", ranks, operation, ratio), TimingSelection.ALL);
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
    assertEquals(
        kind, read(folder, nccl("", 2, operation, ratio), TimingSelection.ALL).get(0).kind());
  }

  @Test
  void anAllReduceOfTwoLooksLikeMessagesWhichANoteSays() {
    String text = nccl("", 2, "sum -1", 1);
    MeasuredTimings taken = CollectiveTimings.read(file(folder, text), TimingSelection.ALL);
    assertEquals(1, taken.notes().size());
    assertTrue(taken.notes().get(0).contains("--collective point_to_point"), taken.toString());
    MeasuredTimings named =
        CollectiveTimings.read(file(folder, text), collective(Kind.POINT_TO_POINT));
    assertEquals(Kind.POINT_TO_POINT, named.timings().get(0).kind());
    assertEquals(List.of(), named.notes());
  }

  @Test
  void aRatioOfNoCollectiveNeedsAName() {
    String text = nccl("", 8, "sum -1", 1.3);
    assertRefused(
        folder,
        "timings:14: does not say which collective it times; give --collective all_reduce, or"
            + " whichever it is",
        text.replace("  0      0  float", "  8      2  float"),
        TimingSelection.ALL);
    assertEquals(3, read(folder, text, collective(Kind.ALL_REDUCE)).size());
  }

  @Test
  void runsOneAfterTheOtherAreToldApart() {
    String text =
        nccl("# Collective test starting: all_reduce_perf\n", 2, "sum -1", 1)
            + nccl("# Collective test starting: all_gather_perf\n", 4, "none -1", 0.75);
    var timings = read(folder, text, TimingSelection.ALL);
    assertEquals(6, timings.size());
    assertEquals(new CollectiveTiming(Kind.ALL_REDUCE, 2, 1024, 8e-6), timings.get(0));
    assertEquals(new CollectiveTiming(Kind.ALL_GATHER, 4, 1024, 8e-6), timings.get(3));
    assertEquals(3, read(folder, text, devices(4)).size());
    assertEquals(3, read(folder, text, collective(Kind.ALL_REDUCE)).size());
    assertRefused(
        folder,
        "timings:1: holds no timings of 8 devices; give --devices 2 or 4",
        text,
        devices(8));
    assertRefused(
        folder,
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
        CollectiveTimings.read(file(folder, text.replace(good, bad)), TimingSelection.ALL);
    assertEquals(2, read.timings().size(), read.toString());
    LeftOut out = read.leftOut().get(read.leftOut().size() - 1);
    assertEquals(reason, out.line() + ": " + out.why());
    assertEquals("a message of 0 bytes", read.leftOut().get(0).why());
  }

  @Test
  void mistakesInNcclTestsAreNamed() {
    String good = nccl("all_reduce_perf\n", 2, "sum -1", 1);
    assertRefused(
        folder,
        "timings:9: times a gather, which is not fitted; run all_reduce_perf or sendrecv_perf",
        good.replace("all_reduce_perf", "gather_perf"),
        TimingSelection.ALL);
    assertRefused(
        folder,
        "timings:8: names one rank, which exchanges nothing; run on two or more, over several"
            + " processes with nccl-tests built for MPI",
        nccl("all_reduce_perf\n", 1, "sum -1", 1),
        TimingSelection.ALL);
    assertRefused(
        folder,
        "timings:7: names no ranks; give their number: --devices N, a whole number >= 2",
        nccl("all_reduce_perf\n", 0, "sum -1", 1),
        TimingSelection.ALL);
    assertRefused(
        folder,
        "timings:1: is the output of nccl-tests, which names no machine to choose; leave out"
            + " --machine",
        good,
        machine("a"));
  }
}
