package dev.pipewright.app.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What would take more memory or time than an answer is worth is refused before it is begun. */
class SizeLimitsTest {
  @TempDir Path folder;

  private Path graph() {
    return Cli.file(folder, "graph.txt", Cli.graph(4_000_000, 4_000_000));
  }

  private Path plan(int microBatches) {
    return Cli.file(
        folder,
        "plan.json",
        """
        {"model": "%s", "profile_batch": 2, "cluster": "dapple-a:1x2",
         "plan": {"schedule": "1f1b", "micro_batches": %d, "micro_batch": 1,
          "stages": [{"layers": [0, 0], "devices": [0]}, {"layers": [1, 1], "devices": [1]}]}}
        """
            .formatted(graph(), microBatches));
  }

  @Test
  void aPlanOfAMillionMicroBatchesIsRefused() {
    String sentence = "2 stages × 1048576 micro-batches are more than can be simulated";
    Path plan = plan(1 << 20);
    for (String command : List.of("simulate", "check")) {
      Cli.run(command, plan.toString()).refusal(2, plan, sentence, "take at most 524288");
    }
  }

  @Test
  void aReportOfMorePassesThanItCanShowIsRefused() {
    Path plan = plan(200_000);
    Cli.run("simulate", plan.toString(), "--out", folder.resolve("out").toString())
        .refusal(2, "--out: 2 stages × 200000 micro-batches are more than a report can show");
  }

  @Test
  void aProfileOfBillionsOfSamplesIsRefused() {
    Path profile =
        Cli.file(
            folder,
            "p.json",
            """
            {"format": "pipewright-profile", "version": 1, "model": "m", "precision": "fp32",
             "provenance": {"source": "s", "device": "d", "date": "", "measured": true},
             "layers": [{"name": "a", "operator": {"kind": "input"}, "parameters": 0,
              "output_elements": 1, "kept_elements": 0, "output_bytes": 4, "kept_bytes": 0, "parameter_bytes": 0}],
             "edges": [],
             "batches": [{"samples": 2000000000, "forward_s": [1], "backward_s": [1], "update_s": [0]}]}
            """);
    Cli.plan(profile, "dapple-a:1x2", "--global-batch", "4")
        .refusal(2, profile + ":6: batches[0].samples is the number 2000000000", "<= 1048576");
  }

  @Test
  void moreValuesThanMemoryHoldsAreRefused() {
    String zeros = "0,".repeat(2_000_001);
    Path json = Cli.file(folder, "p.json", "{\"layers\": [" + zeros + "0]}");
    Cli.plan(json, "dapple-a", "--global-batch", "4")
        .refusal(2, json + ":1: the file holds more than 2,000,000 values");
  }

  @Test
  void aLongYamlFileIsRefused() {
    Path yaml = Cli.file(folder, "c.yaml", "a: \"" + "x".repeat(6_000_000) + "\"\n");
    Cli.plan(graph(), yaml, "--profile-batch", "2", "--global-batch", "4")
        .refusal(2, yaml + ":1: the file has more than 1,048,576 bytes");
  }

  /** What says nothing takes time, too. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "check FILE.csv",
        "cyclic-memory FILE.csv",
        "calibrate FILE.txt --cluster dapple-a --level cluster",
        "plan FILE.json --cluster dapple-a --global-batch 4",
        "plan bert-48 --cluster FILE.yaml --global-batch 64"
      })
  void aFileOfBlanksWithoutAnEndIsRefused(String line) throws IOException {
    String name = line.replaceFirst(".*FILE", "blank").replaceFirst(" .*", "");
    Path file = folder.resolve(name);
    byte[] blanks = new byte[1 << 20];
    Arrays.fill(blanks, (byte) '\n');
    try (OutputStream out = Files.newOutputStream(file)) {
      out.write(line.startsWith("cyclic") ? "time,bytes\n".getBytes(UTF_8) : new byte[0]);
      for (int mebibyte = 0; mebibyte < 65; mebibyte++) {
        out.write(blanks);
      }
    }
    Cli.run(line.replace("FILE" + name.substring(5), file.toString()).split(" "))
        .refusal(2, file + ":");
  }

  @Test
  void jsonOfMoreBytesThanAnAnswerIsWorthIsRefused() throws IOException {
    Path file = folder.resolve("plan.json");
    byte[] blanks = new byte[1 << 20];
    Arrays.fill(blanks, (byte) ' ');
    try (OutputStream out = Files.newOutputStream(file)) {
      out.write('{');
      for (int mebibyte = 0; mebibyte < 128; mebibyte++) {
        out.write(blanks);
      }
    }
    Cli.run("check", file.toString())
        .refusal(2, file + ":1: the file has more than 134,217,728 bytes");
  }

  @Test
  void chainsWithoutStagesAreCounted() {
    String chains = "[],".repeat(1 << 18);
    Path file = Cli.file(folder, "s.json", "{\"ranks\": [[]], \"placement\": [" + chains + "[]]}");
    Cli.run("check", file.toString())
        .refusal(2, "placement holds more stages than can be checked; take at most 262144");
  }

  @ParameterizedTest
  @ValueSource(strings = {"madpipe", "capture", "pipedream-2bw"})
  void moreLayersThanAPlannerCanSearchAreRefused(String planner) {
    StringBuilder text = new StringBuilder();
    for (int i = 1; i <= 5001; i++) {
      text.append("node").append(i).append(" -- l -- forward_compute_time=1,");
      text.append(" backward_compute_time=1, activation_size=1, parameter_size=1\n");
      text.append(i > 1 ? "\tnode" + (i - 1) + " -- node" + i + "\n" : "");
    }
    Path file = Cli.file(folder, "long.txt", text.toString());
    String[] more = {"--profile-batch", "1", "--global-batch", "4", "--planner", planner};
    Cli.plan(file, "dapple-a:1x2", more)
        .refusal(2, "--planner " + planner + ": 5001 layers are more than it can search", "5000");
  }

  @Test
  void aTableOfTwentyThousandPeaksIsRefused() {
    Path peaks = Cli.file(folder, "p.csv", "alone,added\n" + "100,90\n".repeat(20_000));
    Cli.plan(peaks, "dapple-a:1x4", "--planner", "mcap", "--global-batch", "4")
        .refusal(2, peaks + ":5002: the table has more than 5,000 layers");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/dev/stdin", "/dev/zero", "/proc/kmsg", "-", "/dev/null"})
  void aModelNamedInAPlanIsNeverAPipeOrADevice(String model) {
    Path plan =
        Cli.file(
            folder,
            "plan.json",
            """
            {"model": "%s", "cluster": "dapple-a:1x2", "plan": {"schedule": "1f1b",
             "micro_batches": 2, "micro_batch": 1, "stages": [{"layers": [0, 0], "devices": [0]}]}}
            """
                .formatted(model));
    for (String command : List.of("check", "simulate")) {
      Cli.run(command, plan.toString()).refusal(2, plan, model);
    }
  }

  @Test
  void aCountThatNoRunHasIsRefusedByEveryFlag() {
    String most = "2147483647";
    for (String flag : List.of("--stages", "--replicas", "--micro-batches")) {
      Cli.run("train", "mlp:layers=3,hidden=16", "--global-batch", "8", flag, most)
          .refusal(2, flag + ": 2147483647 is too many; give at most 1048576");
    }
    Cli.run("train", "mlp:layers=3,hidden=16", "--global-batch", most)
        .refusal(2, "--global-batch", most);
    Cli.run("profile", "mlp:layers=3,hidden=16", "--batches", ",").refusal(2, "--batches: ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"NaN", "Infinity", "1e400", "0x1p3", "1d", "٣", ""})
  void whatIsNoDecimalNumberIsRefused(String number) {
    Cli.run("train", "mlp:layers=3,hidden=16", "--global-batch", "8", "--learning-rate", number)
        .refusal(2, "--learning-rate: ");
    Cli.schedule("1f1b", 2, 4, "--times", "1," + number + ",1,0").refusal(2, "--times: B=");
  }

  @Test
  void aNameMayBeginWithAnAtSignAndHoldNoNul() {
    Cli.plan("@" + folder, "dapple-a", "--global-batch", "4").refusal(2, "@" + folder);
    Cli.run("check", "a\0b").refusal(2, "cannot be the name of a file");
  }

  @Test
  void largeRunsStillWork() {
    Cli made = Cli.schedule("1f1b", 64, 4096, "--json").ends(0);
    assertEquals(4096, made.json().path("micro_batches").asInt());
  }
}
