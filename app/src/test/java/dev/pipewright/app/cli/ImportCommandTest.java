package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Two ranks run two micro-batches: passes take 10 and 20 ms, messages 1 ms. */
class ImportCommandTest {
  private static final String FIRST =
      """
      {"1": {"total": 92, "memory": 3.5,
        "fwd_start": [0, 10], "fwd_end": [10, 20],
        "bwd_start": [42, 72], "bwd_end": [62, 92]}}
      """;

  private static final String SECOND =
      """
      {"1": {"total": 92, "memory": 3.0,
        "fwd_start": [11, 41], "fwd_end": [21, 51],
        "bwd_start": [21, 51], "bwd_end": [41, 71]}}
      """;

  private static final String TRACE =
      """
      {"distributedInfo": {"rank": 0, "world_size": 2}, "traceEvents": [
        {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1,
         "ts": 0, "dur": 100},
        {"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 1, "tid": 1, "ts": 5, "dur": 20,
         "args": {"Sequence number": 1, "Input Dims": [[8, 4], [2, 4], [2]]}},
        {"ph": "X", "cat": "cpu_op", "name": "autograd::engine::evaluate_function: AddmmBackward0",
         "pid": 1, "tid": 2, "ts": 30, "dur": 40, "args": {"Sequence number": 1}},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 6,
         "dur": 1, "args": {"correlation": 1}},
        {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 10, "dur": 30,
         "args": {"correlation": 1, "stream": 7}},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 2, "ts": 31,
         "dur": 1, "args": {"correlation": 2}},
        {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 40, "dur": 50,
         "args": {"correlation": 2, "stream": 7}},
        {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum", "pid": 0, "tid": 9,
         "ts": 80, "dur": 30, "args": {"correlation": 2, "stream": 9, "In msg nelems": 1000,
         "Out msg nelems": 1000, "Group size": 2, "dtype": "BFloat16"}}
      ]}
      """;

  @TempDir Path folder;

  private Path dump() {
    Cli.file(folder, "config.json", "{\"pp_size\": 2, \"vp_size\": 1, \"num_mbs\": 2}");
    Cli.file(folder, "pp_rank_0.json", FIRST);
    Cli.file(folder, "pp_rank_1.json", SECOND);
    return folder;
  }

  @Test
  void aDumpIsSimulatedWithItsMedians() {
    Cli said = Cli.run("import", dump().toString()).ends(0);
    assertTrue(
        said.out()
            .startsWith(
                "2 ranks, 1 chunk, 2 micro-batches; 1 of 1 iteration undisturbed; makespan 92 ms"
                    + " measured, 92.0 ms simulated (+0.0 %)"),
        said.out());
    assertTrue(said.out().contains("measured, iteration 1"), said.out());
    assertTrue(said.out().contains("simulated with the medians"), said.out());
    assertTrue(said.out().matches("(?s).*   0  92 ms  65.2 % +0.0 % +0.0 %  34.8 %.*"), said.out());
    JsonNode json = Cli.run("import", folder.resolve("pp_rank_1.json").toString(), "--json").json();
    assertEquals(0.092, json.get("simulated_makespan_s").asDouble(), 1e-12);
    assertEquals(0.06, json.get("ranks").get(1).get("busy_s").asDouble(), 1e-12);
  }

  @Test
  void whatIsWrittenIsPlannedAndCalibratedWith() {
    Path out = folder.resolve("out");
    Path trace = Cli.file(folder, "trace.json", TRACE);
    Cli said = Cli.run("import", trace.toString(), "--out", out.toString()).ends(0);
    assertTrue(
        said.err()
            .startsWith("wrote timeline.svg, trace.json, profile.json, collectives.csv to " + out),
        said.err());
    assertTrue(said.err().contains("1 rank of the run's 2 were not given"), said.err());
    assertEquals(
        "collective,devices,bytes,seconds\nall_reduce,2,2000,3.0E-5\n",
        Cli.text(out.resolve("collectives.csv")));
    assertTrue(Files.exists(out.resolve("timeline.svg")));
    Path cluster = Cli.file(folder, "cluster.yaml", Cli.cluster());
    Cli plan = Cli.plan(out.resolve("profile.json"), cluster, "--global-batch", "8", "--json");
    assertTrue(plan.ends(0).json().get("plan") != null || plan.json().size() > 0);
  }

  /** Messages of 5 µs and 10 GB/s, each way: two steps of a ring of two, each of half the bytes. */
  @Test
  void aLinkIsFittedToImportedCollectives() {
    StringBuilder events = new StringBuilder();
    long at = 10;
    for (long elements : new long[] {250_000, 1_000_000, 4_000_000, 16_000_000}) {
      long micros = 2 * 5 + 4 * elements / 10_000;
      events.append(
          """
          {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum", "pid": 0, "tid": 9,
           "ts": %d, "dur": %d, "args": {"correlation": 2, "stream": 9, "In msg nelems": %d,
           "Out msg nelems": %3$d, "Group size": 2, "dtype": "Float"}},
          """
              .formatted(at, micros, elements));
      at += micros + 10;
    }
    String trace = TRACE.replace("\"dur\": 100}", "\"dur\": " + (at + 100) + "}");
    int last = trace.indexOf("{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"nccl");
    String all = trace.substring(0, last) + events.toString().strip().replaceAll(",$", "") + "]}";
    Path out = folder.resolve("out");
    Cli.run("import", Cli.file(folder, "trace.json", all).toString(), "--out", out.toString())
        .ends(0);
    Cli fitted = Cli.run("calibrate", out.resolve("collectives.csv").toString(), "--json").ends(0);
    JsonNode line = fitted.json().get("line");
    assertEquals(5e-6, line.get("latency_s").asDouble(), 1e-7, fitted.out());
    assertEquals(10e9, line.get("bytes_per_s").asDouble(), 1e7, fitted.out());
  }

  @Test
  void whatCannotBeReadIsSaid() throws Exception {
    assertEquals(
        folder + "/none: no such file; give the path of an existing file",
        Cli.run("import", folder + "/none").refusal(2));
    Path empty = Files.createDirectory(folder.resolve("empty"));
    assertEquals(
        empty
            + ": is a folder without config.json and pp_rank_0.json; give a folder of"
            + " --dump_pp_data, or the files of a profiler",
        Cli.run("import", empty.toString()).refusal(2));
    Path trace = Cli.file(folder, "trace.json", TRACE);
    assertEquals(
        "a dump of a pipeline stands for itself; give its folder alone",
        Cli.run("import", dump().toString(), trace.toString()).refusal(2));
    assertEquals(
        "--whole: a dump has iterations; leave it out",
        Cli.run("import", folder.toString(), "--whole").refusal(2));
    Path cut = Cli.file(folder, "cut.json", TRACE.substring(0, 300));
    Cli.run("import", cut.toString(), "--out", folder + "/half").refusal(2, "cut.json:", "ends");
    assertTrue(Files.notExists(folder.resolve("half")), "something was left");
  }
}
