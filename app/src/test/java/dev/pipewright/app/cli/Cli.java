package dev.pipewright.app.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What a command line printed and how it ended. */
record Cli(int status, String out, String err) {
  /** Runs it in this process. */
  static Cli run(String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int status = Main.run(new PrintWriter(out, true), new PrintWriter(err, true), args);
    return new Cli(status, out.toString(), err.toString());
  }

  static Cli plan(Object model, Object cluster, String... more) {
    List<String> args =
        new ArrayList<>(
            List.of("plan", String.valueOf(model), "--cluster", String.valueOf(cluster)));
    args.addAll(Arrays.asList(more));
    return run(args.toArray(new String[0]));
  }

  static Cli schedule(String name, int stages, int microBatches, String... more) {
    List<String> args =
        new ArrayList<>(
            List.of(
                "schedule", name, "--stages", "" + stages, "--micro-batches", "" + microBatches));
    args.addAll(List.of(more));
    return run(args.toArray(new String[0]));
  }

  static String[] with(String[] args, String more) {
    String[] all = Arrays.copyOf(args, args.length + 1);
    all[args.length] = more;
    return all;
  }

  Cli ends(int expected) {
    assertEquals(expected, status, err);
    return this;
  }

  /** Nothing but one sentence with its remedy; returns it without {@code pipewright: }. */
  String refusal(int expected, Object... parts) {
    ends(expected);
    assertEquals("", out);
    assertTrue(err.startsWith("pipewright: "), err);
    assertEquals(1, err.lines().count(), err);
    assertFalse(err.contains("Exception") || err.contains("\tat "), err);
    assertTrue(err.contains("; "), "no remedy: " + err);
    for (Object part : parts) {
      assertTrue(err.contains(String.valueOf(part)), "no '" + part + "' in: " + err);
    }
    return err.substring("pipewright: ".length()).strip();
  }

  /**
   * Of a plan file with a contradiction, {@code simulate} refuses it and {@code check} says the
   * same: as its answer, with status 1, where the file reads well; otherwise it refuses it, too.
   */
  static void contradicts(int status, String file, String words) {
    String refusal = run("simulate", file).refusal(2, "bad.json", words);
    Cli check = run("check", file).ends(status);
    String said = status == 1 ? check.out.strip() : check.refusal(2);
    assertTrue(said.contains(words) && refusal.startsWith(said), said);
  }

  /** The one object on standard output. */
  JsonNode json() {
    return JsonMapper.builder()
        .enable(tools.jackson.databind.DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
        .build()
        .readTree(out);
  }

  static Path file(Path folder, String name, String text) {
    return file(folder, name, text.getBytes(StandardCharsets.UTF_8));
  }

  static Path file(Path folder, String name, byte[] bytes) {
    try {
      return Files.write(folder.resolve(name), bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Layers of 2 ms forward and 4 ms backward, 1 MB out, so many bytes of parameters, in a row. */
  static String graph(long... parameterBytes) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < parameterBytes.length; i++) {
      text.append(
          String.format(
              Locale.ROOT,
              "node%d -- layer_%d -- forward_compute_time=2, backward_compute_time=4,"
                  + " activation_size=1000000, parameter_size=%d%n",
              i + 1,
              i,
              parameterBytes[i]));
    }
    for (int i = 1; i < parameterBytes.length; i++) {
      text.append("\tnode").append(i).append(" -- node").append(i + 1).append('\n');
    }
    return text.toString();
  }

  static String smallGraph() {
    return graph(4_000_000, 8_000_000, 4_000_000, 8_000_000, 4_000_000, 2_000_000);
  }

  /** Four devices in two nodes. */
  static String cluster() {
    return """
    format: pipewright-cluster
    version: 1
    name: small
    kinds:
      - {name: tiny, memory_bytes: 1e9, fp32_flops: 1e13, mixed_flops: 4e13, memory_bytes_per_s: 5e11}
    levels:
      - name: node
        point_to_point: {latency_s: 1e-5, bytes_per_s: 2e10}
        collective: {latency_s: 1e-5, bytes_per_s: 5e10}
        groups: 2
      - name: cluster
        point_to_point: {latency_s: 5e-5, bytes_per_s: 1e9}
        collective: {latency_s: 5e-5, bytes_per_s: 3e9}
        groups: 2
    devices:
      - {kind: tiny, count: 4}
    """;
  }

  /** Two stages of three layers on a device each, eight micro-batches of two. */
  static String plan() {
    return """
    {
      "schedule": "1f1b",
      "micro_batches": 8,
      "micro_batch": 2,
      "stages": [
        {"layers": [0, 2], "devices": [0]},
        {"layers": [3, 5], "devices": [1]}
      ]
    }
    """;
  }
}
