package dev.pipewright.bench.runtime;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.runtime.launch.TemporaryFolder;
import dev.pipewright.runtime.metrics.StepMetrics;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The step of a training with two workers whose ranks Slurm starts, next to the same training whose
 * ranks are started by hand: in turn, so that whatever else the machine does meets both, and each
 * rank in a session of its own, as Linux divides processors among sessions.
 */
public final class SlurmOverhead implements Reproduction {
  private static final int ROUNDS = Integer.getInteger("slurm.rounds", 7);
  private static final int STEPS = 120;
  private static final int WARM_UP = 20; // steps
  private static final List<String> TRAINING =
      List.of(
          "mlp-8x1024",
          "--stages=2",
          "--global-batch=64",
          "--steps=" + STEPS,
          "--launcher=env",
          "--workers-per-rank=1");
  private static final String SCRIPTS = "tools/slurm-two-nodes/";

  @Override
  public String name() {
    return "slurm-overhead";
  }

  @Override
  public String summary() {
    return "What Slurm adds to a training run.";
  }

  @Override
  public Report run(Reference reference) {
    if (!Files.exists(Path.of("/usr/sbin/slurmctld"))) {
      return new Report("A step under Slurm").paragraph("Slurm is not installed here.");
    }
    try (TemporaryFolder folder = TemporaryFolder.create()) {
      return measured(folder.path());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private static Report measured(Path folder) throws IOException, InterruptedException {
    Path cluster = folder.resolve("cluster");
    List<Double> byHand = new ArrayList<>();
    List<Double> bySlurm = new ArrayList<>();
    Markdown table = new Markdown("round", "by hand, ms", "under Slurm, ms");
    finish(List.of(SCRIPTS + "start", cluster.toString()), Map.of());
    try {
      for (int round = 0; round < ROUNDS; round++) {
        Path hand = folder.resolve("hand-" + round);
        Path slurm = folder.resolve("slurm-" + round);
        if (round % 2 == 0) {
          byHand(hand);
          bySlurm(slurm, cluster);
        } else {
          bySlurm(slurm, cluster);
          byHand(hand);
        }
        List<Double> first = seconds(hand);
        List<Double> second = seconds(slurm);
        byHand.addAll(first);
        bySlurm.addAll(second);
        table.row(
            round + 1,
            Numbers.significant(1e3 * median(first)),
            Numbers.significant(1e3 * median(second)));
      }
    } finally {
      finish(List.of(SCRIPTS + "stop", cluster.toString()), Map.of());
    }
    table.row(
        "all",
        Numbers.significant(1e3 * median(byHand)),
        Numbers.significant(1e3 * median(bySlurm)));
    return new Report("A step under Slurm")
        .paragraph(
            "`Reproduce slurm-overhead`: `train %s` as two ranks on one machine, started by hand and by `srun` in turn; medians of the steps after the first %d."
                .formatted(String.join(" ", TRAINING), WARM_UP))
        .paragraph(
            "Under Slurm the median step takes %+.1f %%."
                .formatted(100 * (median(bySlurm) / median(byHand) - 1)))
        .table(table);
  }

  private static List<String> command(Path run) {
    List<String> command = new ArrayList<>(TrainingRuns.command());
    command.add("train");
    command.addAll(TRAINING);
    command.add("--out=" + run);
    return command;
  }

  private static void byHand(Path run) throws IOException, InterruptedException {
    int port;
    try (ServerSocket any = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = any.getLocalPort();
    }
    List<Process> ranks = new ArrayList<>();
    for (int rank = 0; rank < 2; rank++) {
      List<String> command = new ArrayList<>(List.of("setsid")); // a session each, as Slurm's tasks
      command.addAll(command(run));
      command.addAll(
          List.of("--rank=" + rank, "--world-size=2", "--coordinator=127.0.0.1:" + port));
      ranks.add(start(command, Map.of()));
    }
    for (Process rank : ranks) {
      finish(rank, "train");
    }
  }

  private static void bySlurm(Path run, Path cluster) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("srun", "--nodes=2", "--ntasks-per-node=1"));
    command.addAll(command(run));
    finish(
        command,
        Map.of("SLURM_CONF", cluster.resolve("slurm.conf").toString(), "MASTER_ADDR", "127.0.0.1"));
  }

  private static Process start(List<String> command, Map<String, String> more) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("PIPEWRIGHT_TOKEN", TrainingRuns.TOKEN);
    builder.environment().put("OPENBLAS_NUM_THREADS", "1");
    builder.environment().put("OMP_NUM_THREADS", "1");
    builder.environment().putAll(more);
    return builder.redirectErrorStream(true).start();
  }

  private static void finish(List<String> command, Map<String, String> more)
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
  private static List<Double> seconds(Path run) throws IOException {
    List<Double> seconds = new ArrayList<>();
    for (String line : Files.readAllLines(run.resolve("metrics.jsonl"))) {
      JsonNode step = new JsonMapper().readTree(line);
      if (step.get("step").asInt() > WARM_UP) {
        seconds.add(step.get(StepMetrics.STEP_SECONDS).asDouble());
      }
    }
    return seconds;
  }

  private static double median(List<Double> values) {
    List<Double> sorted = values.stream().sorted().toList();
    int half = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(half)
        : (sorted.get(half - 1) + sorted.get(half)) / 2;
  }
}
