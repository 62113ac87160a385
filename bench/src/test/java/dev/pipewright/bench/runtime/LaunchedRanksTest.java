package dev.pipewright.bench.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The same command line as two processes, with the environments that launchers would make. */
class LaunchedRanksTest {
  private static final String TOKEN = "3f0c5d7e9a1b48c2a6d4e8f00b1c2d3e";

  @TempDir Path folder;
  private final List<Process> processes = new ArrayList<>();

  @AfterEach
  void end() {
    processes.forEach(Process::destroyForcibly);
  }

  private Process train(String out, Map<String, String> environment, String... more)
      throws IOException {
    List<String> command = new ArrayList<>(TrainingRuns.command());
    command.addAll(
        List.of(
            "train",
            "mlp:layers=3,hidden=16,in=12,classes=4",
            "--global-batch=8",
            "--micro-batches=2",
            "--checkpoint-every=4",
            "--out=" + folder.resolve(out)));
    command.addAll(List.of(more));
    if (command.stream().noneMatch(word -> word.startsWith("--steps="))) {
      command.add("--steps=4");
    }
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().putAll(environment);
    builder.redirectErrorStream(true);
    builder.redirectOutput(folder.resolve("output-" + processes.size()).toFile());
    Process process = builder.start();
    processes.add(process);
    return process;
  }

  private static String[] with(String[] flags, String more) {
    return Stream.concat(Arrays.stream(flags), Stream.of(more)).toArray(String[]::new);
  }

  private String output(int process) throws IOException {
    return Files.readString(folder.resolve("output-" + process));
  }

  private void end(int process, int status) throws Exception {
    assertTrue(processes.get(process).waitFor(5, TimeUnit.MINUTES), output(process));
    assertEquals(status, processes.get(process).exitValue(), output(process));
    assertFalse(output(process).contains(TOKEN), output(process));
  }

  private void assertSameAsSerial(String run) throws Exception {
    train("serial", Map.of());
    end(processes.size() - 1, 0);
    RunPrograms.assertSameState(folder.resolve("serial"), folder.resolve(run));
  }

  private static String freePort() throws IOException {
    try (ServerSocket any = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return "" + any.getLocalPort();
    }
  }

  @Test
  void tasksOfSlurmTrainToTheParametersOfOneProcess() throws Exception {
    String address = "--coordinator=127.0.0.1:" + freePort(); // n1 is no host here
    for (String task : List.of("1", "0")) { // the coordinator last: the other one waits for it
      train(
          "slurm",
          Map.of(
              "PIPEWRIGHT_TOKEN", TOKEN,
              "SLURM_JOB_ID", "41",
              "SLURM_STEP_ID", "0",
              "SLURM_PROCID", task,
              "SLURM_STEP_NUM_TASKS", "2",
              "SLURM_STEP_NODELIST", "n[1-2]"),
          "--stages=2",
          "--launcher=env",
          address);
      Thread.sleep(1500);
    }
    end(0, 0);
    end(1, 0);
    assertEquals("", output(0));
    assertTrue(output(1).startsWith("rank 0 of 2 by Slurm: the others join at 127.0.0.1:"));
    assertTrue(Files.exists(folder.resolve("slurm/logs/rank-1.log")));
    assertSameAsSerial("slurm");
  }

  @Test
  void ranksOfTorchrunTrainToTheParametersOfOneProcess() throws Exception {
    String port = freePort();
    for (String rank : List.of("0", "1")) {
      train(
          "torchrun",
          Map.of(
              "PIPEWRIGHT_TOKEN", TOKEN,
              "RANK", rank,
              "WORLD_SIZE", "2",
              "MASTER_ADDR", "localhost",
              "MASTER_PORT", port),
          "--stages=2",
          "--launcher=env");
    }
    end(0, 0);
    end(1, 0);
    assertSameAsSerial("torchrun");
  }

  private void torchrun(String out, String port, String... more) throws IOException {
    for (String rank : List.of("0", "1")) {
      train(
          out,
          Map.of(
              "PIPEWRIGHT_TOKEN", TOKEN,
              "RANK", rank,
              "WORLD_SIZE", "2",
              "MASTER_ADDR", "localhost",
              "MASTER_PORT", port),
          Stream.concat(Stream.of("--stages=2", "--launcher=env", "--grace=30"), Stream.of(more))
              .toArray(String[]::new));
    }
  }

  /** Slurm signals all processes of a step, workers too, and takes the largest exit status. */
  @Test
  void aStoppedRunEndsWithACheckpointAndGoesOnToTheSameParameters() throws Exception {
    torchrun("stopped", freePort(), "--steps=2000");
    while (!output(0).contains("step ") && processes.get(0).isAlive()) {
      Thread.sleep(100);
    }
    List<ProcessHandle> all = new ArrayList<>();
    processes.forEach(process -> {
      all.add(process.toHandle());
      process.descendants().forEach(all::add);
    });
    assertTrue(all.size() >= 4, "workers were not started: " + output(0));
    for (ProcessHandle each : all) {
      new ProcessBuilder("kill", "-TERM", "" + each.pid()).start().waitFor();
    }
    end(0, 75);
    end(1, 0);
    assertTrue(output(0).contains("go on with --resume"), output(0));
    long step = RunPrograms.steps(folder.resolve("stopped"));
    assertTrue(step < 2000, output(0));
    String steps = "--steps=" + (step + 4);
    torchrun("stopped", freePort(), steps, "--resume=" + folder.resolve("stopped"));
    end(2, 0);
    end(3, 0);
    train("serial", Map.of(), steps);
    end(4, 0);
    RunPrograms.assertSameState(folder.resolve("serial"), folder.resolve("stopped"));
  }

  @Test
  void ranksThatCannotHoldThePlanAreRefusedWithWhatFits() throws Exception {
    train(
        "few",
        Map.of("PIPEWRIGHT_TOKEN", TOKEN),
        "--stages=4",
        "--rank=0",
        "--world-size=2",
        "--coordinator=127.0.0.1:" + freePort(),
        "--workers-per-rank=1");
    end(0, 2);
    assertEquals(
        "pipewright: --launcher env: the command line starts 2 ranks for 1 workers each, but the run"
            + " has 4; plan for 2 devices, or start 4 ranks\n",
        output(0));
  }

  @Test
  void aRankThatWaitsInVainOrHasAnotherTokenSaysSo() throws Exception {
    String address = "127.0.0.1:" + freePort();
    String[] flags = {
      "--stages=2", "--world-size=2", "--coordinator=" + address, "--join-timeout=6"
    };
    Map<String, String> others = Map.of("PIPEWRIGHT_TOKEN", "another-".repeat(4));
    train("token", Map.of("PIPEWRIGHT_TOKEN", TOKEN), with(flags, "--rank=0"));
    train("token", others, with(flags, "--rank=1"));
    end(1, 2);
    assertEquals(
        "pipewright: %s: rank 0 has another token; give all ranks the same one%n"
            .formatted(address),
        output(1));
    end(0, 3);
    assertTrue(output(0).contains("1 of 2 workers have not joined within 6 s"), output(0));
    train("token", others, with(flags, "--rank=1"));
    end(2, 2);
    assertEquals(
        "pipewright: rank 0 has not listened at %s within 6 s; see what it has printed, or give --coordinator HOST:PORT%n"
            .formatted(address),
        output(2));
  }

  /** Whoever started the tests may have left them deaf to it, as shells do in the background. */
  private static boolean hearsInterrupts() throws IOException {
    Path status = Path.of("/proc/self/status");
    if (!Files.exists(status)) {
      return true;
    }
    String ignored =
        Files.readAllLines(status).stream()
            .filter(line -> line.startsWith("SigIgn:"))
            .findFirst()
            .orElseThrow();
    return (Long.parseLong(ignored.substring("SigIgn:".length()).strip(), 16) & 1 << 1) == 0;
  }

  @Test
  void aRankThatWaitsCanBeInterrupted() throws Exception {
    assumeTrue(hearsInterrupts(), "SIGINT is ignored here");
    train(
        "wait",
        Map.of("PIPEWRIGHT_TOKEN", TOKEN),
        "--stages=2",
        "--rank=1",
        "--world-size=2",
        "--coordinator=127.0.0.1:" + freePort());
    Thread.sleep(3000);
    new ProcessBuilder("kill", "-INT", "" + processes.get(0).pid()).start().waitFor();
    end(0, 130);
  }
}
