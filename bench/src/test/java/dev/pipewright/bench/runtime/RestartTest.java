package dev.pipewright.bench.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs with {@code --max-restarts} whose workers are killed, stopped or cut off. */
class RestartTest {
  private static final int STEPS = 200;
  private static final int EVERY = 10; // steps between checkpoints

  private static final int PATIENCE = 5; // seconds with a worker that hangs

  @TempDir static Path shared;
  @TempDir Path folder;
  private final List<Process> processes = new ArrayList<>();

  @AfterEach
  void end() {
    processes.forEach(process -> process.descendants().forEach(ProcessHandle::destroyForcibly));
    processes.forEach(Process::destroyForcibly);
  }

  private Process train(Path out, String... more) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                "mlp:layers=3,hidden=16,in=12,classes=4",
                "--global-batch=8",
                "--micro-batches=2",
                "--stages=2",
                "--steps=" + STEPS,
                "--checkpoint-every=" + EVERY,
                "--out=" + out));
    command.addAll(List.of(more));
    return start(command);
  }

  private Process start(List<String> train) throws IOException {
    List<String> command = new ArrayList<>(TrainingRuns.command());
    command.add("train");
    command.addAll(train);
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().putAll(Map.of("PIPEWRIGHT_TOKEN", "0f1e2d3c4b5a69788796a5b4c3d2e1f0"));
    builder.redirectErrorStream(true);
    builder.redirectOutput(folder.resolve("output-" + processes.size()).toFile());
    Process process = builder.start();
    processes.add(process);
    return process;
  }

  private String output(int process) throws IOException {
    return Files.readString(folder.resolve("output-" + process));
  }

  private void end(int process, int status) throws Exception {
    assertTrue(processes.get(process).waitFor(5, TimeUnit.MINUTES), outputs());
    assertEquals(status, processes.get(process).exitValue(), outputs());
  }

  private String outputs() throws IOException {
    StringBuilder all = new StringBuilder();
    for (int process = 0; process < processes.size(); process++) {
      all.append(processes.get(process)).append('\n').append(output(process));
    }
    return all.toString();
  }

  private Path uninterrupted() throws Exception {
    Path run = shared.resolve("uninterrupted");
    if (!Files.exists(run)) {
      train(run);
      end(processes.size() - 1, 0);
    }
    return run;
  }

  /** Ranks of a plan of which one goes for good. */
  @Test
  void aRankThatDoesNotComeBackIsReplannedFor() throws Exception {
    Path plan = RunPrograms.planOfTwo(folder.resolve("plan.json"));
    Path run = folder.resolve("run");
    int port = freePort();
    for (int rank = 0; rank < 2; rank++) {
      start(
          List.of(
              plan.toString(),
              "--steps=" + STEPS,
              "--checkpoint-every=" + EVERY,
              "--out=" + run,
              "--rank=" + rank,
              "--world-size=2",
              "--workers-per-rank=1",
              "--coordinator=127.0.0.1:" + port,
              "--join-timeout=8",
              "--max-restarts=3",
              "--replan"));
    }
    awaitCheckpoint(run);
    List<ProcessHandle> lost = new ArrayList<>(List.of(processes.get(1).toHandle()));
    lost.addAll(workers(processes.get(1)));
    lost.forEach(ProcessHandle::destroyForcibly);
    end(0, 0);
    assertTrue(
        output(0).contains("restart 2 of 3 with another plan, 1f1b on 1 devices, from " + run),
        output(0));
    assertEquals(2, restarts(output(0)), output(0));
    assertEquals(STEPS, RunPrograms.steps(run));
    RunPrograms.assertNearState(uninterrupted(), run, 1e-3);
  }

  private void await(BooleanSupplier condition) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(5);
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() < deadline, () -> "in vain: " + processes);
      Thread.sleep(20);
    }
  }

  /** Waits until a run has written a checkpoint. */
  private void awaitCheckpoint(Path run) throws Exception {
    await(() -> {
      try (Stream<Path> files = Files.list(run.resolve("checkpoints"))) {
        return files.anyMatch(step -> step.getFileName().toString().matches("step-\\d+"));
      } catch (IOException e) {
        return false; // not even the folder is there yet
      }
    });
  }

  /** The processes that compute for a process. */
  private static List<ProcessHandle> workers(Process of) {
    return of.descendants().toList();
  }

  private static void signal(String name, ProcessHandle to) throws Exception {
    new ProcessBuilder("kill", "-" + name, "" + to.pid()).start().waitFor();
  }

  private static int restarts(String output) {
    return output.split("; restart \\d+ of ", -1).length - 1;
  }

  @ParameterizedTest
  @CsvSource({"KILL, was killed by signal 9", "STOP, has not answered for"})
  void aLostWorkerIsReplaced(String signal, String said) throws Exception {
    Path run = folder.resolve("run");
    Process process = train(run, "--max-restarts=2", "--stall-timeout=" + PATIENCE);
    awaitCheckpoint(run);
    signal(signal, workers(process).get(1));
    end(0, 0);
    assertTrue(output(0).contains(said), output(0));
    assertTrue(
        output(0).contains("; restart 1 of 2 from " + run + "/checkpoints/step-"), output(0));
    assertEquals(1, restarts(output(0)), output(0));
    assertEquals(List.of(), workers(process));
    RunPrograms.assertSameState(uninterrupted(), run);
  }

  @Test
  void aRunWhoseWorkersAreLostOnceMoreThanItMayRestartEndsWithASentence() throws Exception {
    Path run = folder.resolve("run");
    Process process = train(run, "--max-restarts=1", "--learning-rate=0.01");
    for (int restart = 0; restart < 2; restart++) {
      int before = restart;
      await(() -> {
        try {
          return restarts(output(0)) == before && workers(process).size() == 2;
        } catch (IOException e) {
          return false;
        }
      });
      signal("KILL", workers(process).get(0));
    }
    end(0, 3);
    assertTrue(output(0).endsWith("the only restart of --max-restarts came before\n"), output(0));
    assertTrue(output(0).contains("; restart 1 of 1 from "), output(0));
  }

  private static int freePort() throws IOException {
    try (ServerSocket any = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return any.getLocalPort();
    }
  }

  /** Starts rank 0, and rank 1 that reaches it by a proxy. */
  private void ranks(Path run, int port, int proxy, String... more) throws IOException {
    for (int rank = 0; rank < 2; rank++) {
      List<String> flags =
          new ArrayList<>(
              List.of(
                  "--rank=" + rank,
                  "--world-size=2",
                  "--coordinator=127.0.0.1:" + (rank == 0 ? port : proxy),
                  "--join-timeout=30",
                  "--max-restarts=3",
                  "--stall-timeout=" + PATIENCE));
      flags.addAll(List.of(more));
      train(run, flags.toArray(String[]::new));
    }
  }

  @Test
  void ranksThatWouldJoinAgainEndSoonAfterRankZeroIsGone() throws Exception {
    Path run = folder.resolve("run");
    int port = freePort();
    ranks(run, port, port);
    awaitCheckpoint(run);
    signal("KILL", processes.get(0).toHandle());
    end(1, 2);
    assertEquals(
        "pipewright: rank 0 no longer listens at 127.0.0.1:" + port + "; see what it has printed\n",
        output(1));
  }

  /** Which only rank 0 finds. */
  @Test
  void ranksHearOfAMistakeThatRankZeroFindsBeforeItListens() throws Exception {
    Path run = folder.resolve("run");
    Files.createDirectories(run);
    Files.writeString(run.resolve("metrics.jsonl"), "{}\n");
    int port = freePort();
    ranks(run, port, port);
    end(0, 2);
    end(1, 3);
    String mistake = "--out: " + run + " holds another run; ";
    assertTrue(output(0).contains(mistake), output(0));
    assertTrue(output(1).startsWith("pipewright: rank 1: " + mistake), output(1));
  }

  @Test
  void ranksThatHaveNotJoinedAreNamed() throws Exception {
    Path run = folder.resolve("run");
    train(
        run,
        "--rank=0",
        "--world-size=2",
        "--coordinator=127.0.0.1:" + freePort(),
        "--join-timeout=2");
    end(0, 3);
    assertTrue(
        output(0).endsWith("1 of 2 workers have not joined within 2 s: rank 1 is missing\n"),
        output(0));
  }

  @ParameterizedTest
  @ValueSource(strings = {"KILL", "STOP", "cut"})
  void aRankWhoseWorkerIsLostJoinsAgain(String how) throws Exception {
    Path run = folder.resolve("run");
    int port = freePort();
    try (CuttableProxy proxy = new CuttableProxy(port)) {
      ranks(run, port, proxy.port());
      awaitCheckpoint(run);
      if (how.equals("cut")) {
        assertTrue(proxy.cut() > 0);
      } else {
        signal(how, workers(processes.get(1)).get(0));
      }
      end(0, 0);
      end(1, 0);
    }
    assertEquals(1, restarts(output(0)), output(0));
    assertEquals("", output(1));
    RunPrograms.assertSameState(uninterrupted(), run);
  }
}
