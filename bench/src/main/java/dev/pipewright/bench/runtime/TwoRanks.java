package dev.pipewright.bench.runtime;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.pipewright.runtime.metrics.StepMetrics;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Training runs of two ranks on this machine, as on two machines, and the times of their steps. */
final class TwoRanks {
  /** What a launcher's ranks take in addition. */
  static final List<String> ONE_WORKER_EACH = List.of("--launcher=env", "--workers-per-rank=1");

  private TwoRanks() {}

  /** The command of a run into a folder. */
  static List<String> command(Path run, List<String> training) {
    List<String> command = new ArrayList<>(TrainingRuns.command());
    command.add("train");
    command.addAll(training);
    command.add("--out=" + run);
    return command;
  }

  /** Runs both ranks, each in a session of its own, as Linux divides processors among sessions. */
  static void train(Path run, List<String> training) throws IOException, InterruptedException {
    int port;
    try (ServerSocket any = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = any.getLocalPort();
    }
    List<Process> ranks = new ArrayList<>();
    for (int rank = 0; rank < 2; rank++) {
      List<String> command = new ArrayList<>(List.of("setsid"));
      command.addAll(command(run, training));
      command.addAll(ONE_WORKER_EACH);
      command.addAll(
          List.of("--rank=" + rank, "--world-size=2", "--coordinator=127.0.0.1:" + port));
      ranks.add(start(command, Map.of()));
    }
    for (Process rank : ranks) {
      finish(rank, "train");
    }
  }

  private static Process start(List<String> command, Map<String, String> more) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("PIPEWRIGHT_TOKEN", TrainingRuns.TOKEN);
    builder.environment().put("OPENBLAS_NUM_THREADS", "1");
    builder.environment().put("OMP_NUM_THREADS", "1");
    builder.environment().putAll(more);
    return builder.redirectErrorStream(true).start();
  }

  /** Runs a command, and throws with what it has printed where it fails. */
  static void finish(List<String> command, Map<String, String> more)
      throws IOException, InterruptedException {
    finish(start(command, more), command.get(0));
  }

  private static void finish(Process process, String what)
      throws IOException, InterruptedException {
    String said = new String(process.getInputStream().readAllBytes(), UTF_8);
    if (process.waitFor() != 0) {
      throw new IllegalStateException(what + " failed: " + said);
    }
  }

  /** Seconds of the steps of a run, without those of its warm-up. */
  static List<Double> seconds(Path run, int warmUp) throws IOException {
    List<Double> seconds = new ArrayList<>();
    for (String line : Files.readAllLines(run.resolve("metrics.jsonl"))) {
      JsonNode step = new JsonMapper().readTree(line);
      if (step.get("step").asInt() > warmUp) {
        seconds.add(step.get(StepMetrics.STEP_SECONDS).asDouble());
      }
    }
    return seconds;
  }

  static double median(List<Double> values) {
    List<Double> sorted = values.stream().sorted().toList();
    int half = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(half)
        : (sorted.get(half - 1) + sorted.get(half)) / 2;
  }
}
