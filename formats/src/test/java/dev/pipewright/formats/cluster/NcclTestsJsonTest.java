package dev.pipewright.formats.cluster;

import static dev.pipewright.formats.cluster.GivenTimings.refusal;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.file.Refusal;
import dev.pipewright.profile.CollectiveTiming;
import dev.pipewright.profile.CollectiveTiming.Kind;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What nccl-tests write with {@code -J}. */
class NcclTestsJsonTest {
  @TempDir private Path folder;

  private static String json(String devices, String results, String rest) {
    return "{\"version\": 3, \"args\": [\"./build/all_reduce_perf\", \"-J\", \"x\"],\n\"config\": {\"nthreads\": 1,"
        + devices
        + "},\n\"results\": [\n"
        + results
        + "]"
        + rest
        + "}\n";
  }

  private static String result(long bytes, String out, String in) {
    return "{\"size\": "
        + bytes
        + ", \"count\": 1, \"type\": \"float\", \"redop\": \"sum\", \"root\": \"    -1\","
        + " \"out_of_place\": "
        + out
        + ", \"in_place\": "
        + in
        + "}";
  }

  private static String half(String time, String wrong) {
    return "{" + time + ", \"alg_bw\": 1.0, \"bus_bw\": 1.5, \"nwrong\": " + wrong + "}";
  }

  private static final String FOUR =
      "\"ngpus\": 2, \"devices\": [{\"rank\": 0, \"group\": 0}, {\"rank\": 2, \"group\": 0}]";

  @Test
  void theJsonOfNcclTestsIsRead() {
    String text =
        json(
            FOUR,
            result(0, half("\"time\": 1", "0"), "null")
                + ",\n"
                + result(1024, half("\"time\": 10.5", "0"), half("\"time\": 11", "null"))
                + ",\n"
                + result(2048, half("\"time\": 12", "3"), half("\"time\": \"nan\"", "0")),
            ", \"out_of_bounds\": {\"count\": 3, \"okay\": \"false\"}");
    MeasuredTimings read =
        CollectiveTimings.read(Refusal.file(folder, "log", text), TimingSelection.ALL);
    assertEquals(
        List.of(
            new CollectiveTiming(Kind.ALL_REDUCE, 4, 1024, 10.5 / 1e6),
            new CollectiveTiming(Kind.ALL_REDUCE, 4, 1024, 11 / 1e6)),
        read.timings());
    assertEquals(
        List.of("4: a message of 0 bytes", "6: 3 wrong results out of place"),
        read.leftOut().stream().map(out -> out.line() + ": " + out.why()).toList());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{}                              | log:1: is JSON, but not of nccl-tests -J",
        "{\"traceEvents\": []}           | log:1: is JSON, but not of nccl-tests -J",
        "{\"config\": 1, \"results\": []} | log:1: config is the number 1; expected an object",
        "{\"config\": {                  | log:2: ",
      })
  void otherJsonIsRefused(String text, String expected) {
    String refusal = refusal(folder, "log", text + "\n");
    assertTrue(refusal.startsWith(expected), refusal);
  }

  @Test
  void jsonWithoutCheckedResultsOrOfTheProcessorIsRefused() {
    String good = result(1024, half("\"time\": 10.5", "null"), "null");
    String failed = json(FOUR, good, ", \"out_of_bounds\": {\"count\": 3, \"okay\": \"false\"}");
    assertTrue(
        refusal(folder, "failed", failed)
            .startsWith("failed:4: the check of the results FAILED in a run of 1 row;"));
    String cpu = json(FOUR, good.replace("\"time\"", "\"cpu_time\""), "");
    assertTrue(refusal(folder, "cpu", cpu).contains("-C 1"));
  }
}
