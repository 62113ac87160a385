package dev.pipewright.bench.runtime;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Runs of two ranks that lose a worker. */
final class LostWorkerTrial {
  static final int PATIENCE = 4; // seconds with a worker that hangs
  static final int DEADLINE = 20; // seconds from the loss to the end
  private static final int STEPS = 60;
  private static final int EVERY = 6;
  private static final int BROKEN = 3; // status
  private static final int JOINING = 60; // seconds
  static final int STARTING = JOINING + DEADLINE; // the same of a run that waits for ranks to join
  private static final int MINUTES = 3; // of a run that nothing disturbs

  /** How a worker is lost. */
  enum Loss {
    KILLED,
    STOPPED,
    CUT_OFF
  }

  /**
   * How a run has ended.
   *
   * @param secondsToEnd from the loss
   * @param ended whether the loss has ended it
   * @param finding what is wrong, if anything
   */
  record Result(double secondsToEnd, boolean ended, Optional<String> finding) {}

  private final Path folder;

  /** A run without loss: what it took and with what it ended. */
  private record Undisturbed(double seconds, Map<String, float[]> state) {}

  private final Map<String, Undisturbed> undisturbed = new HashMap<>();
  private int runs;

  LostWorkerTrial(Path folder) {
    this.folder = folder;
  }

  private List<String> arguments(String strategy, Path run) {
    List<String> arguments = new ArrayList<>(List.of(strategy.split(" ")));
    arguments.addAll(
        List.of(
            "--steps=" + STEPS,
            "--checkpoint-every=" + EVERY,
            "--stall-timeout=" + PATIENCE,
            "--out=" + run));
    return arguments;
  }

  /**
   * A run that loses a worker.
   *
   * @param moment as a share of the duration of a run without loss
   * @param worker which
   */
  Result run(String strategy, Loss loss, double moment, int worker) {
    try {
      return lossy(strategy, loss, moment * undisturbed(strategy).seconds(), worker);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Trains without loss, once for each strategy. */
  private Undisturbed undisturbed(String strategy) throws IOException, InterruptedException {
    Undisturbed known = undisturbed.get(strategy);
    if (known != null) {
      return known;
    }
    Path run = folder.resolve("reference-" + undisturbed.size());
    long begin = System.nanoTime();
    finish(arguments(strategy, run));
    double seconds = (System.nanoTime() - begin) / 1e9;
    Undisturbed made = new Undisturbed(seconds, TrainingRuns.state(run));
    undisturbed.put(strategy, made);
    return made;
  }

  private void finish(List<String> arguments) throws IOException, InterruptedException {
    Path output = folder.resolve("output-" + runs++);
    Process process = TrainingRuns.train(arguments, output);
    if (!process.waitFor(MINUTES, TimeUnit.MINUTES) || process.exitValue() != 0) {
      process.destroyForcibly();
      throw new IllegalStateException(arguments + " failed: " + Files.readString(output));
    }
  }

  private Result lossy(String strategy, Loss loss, double after, int worker)
      throws IOException, InterruptedException {
    Path run = folder.resolve("run-" + runs);
    int port;
    try (ServerSocket any = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = any.getLocalPort();
    }
    List<Process> ranks = new ArrayList<>();
    List<Path> outputs = new ArrayList<>();
    try (CuttableProxy proxy = new CuttableProxy(port)) {
      for (int rank = 0; rank < 2; rank++) {
        List<String> arguments = arguments(strategy, run);
        arguments.addAll(
            List.of(
                "--rank=" + rank,
                "--world-size=2",
                "--coordinator=127.0.0.1:" + (rank == 0 ? port : proxy.port()),
                "--join-timeout=" + JOINING));
        outputs.add(folder.resolve("output-" + runs++));
        ranks.add(TrainingRuns.train(arguments, outputs.get(rank)));
      }
      long begin = System.nanoTime();
      while (ranks.stream().allMatch(Process::isAlive)
          && (System.nanoTime() - begin < 1e9 * after || !bothWork(ranks))) {
        Thread.sleep(10);
      }
      List<ProcessHandle> all = new ArrayList<>();
      ranks.forEach(rank -> {
        all.add(rank.toHandle());
        rank.descendants().forEach(all::add);
      });
      int deadline = Files.readString(outputs.get(0)).contains("step ") ? DEADLINE : STARTING;
      lose(loss, ranks.get(worker), proxy);
      long lost = System.nanoTime();
      boolean inTime = true;
      for (Process rank : ranks) {
        long left = (long) (1e9 * deadline) - (System.nanoTime() - lost);
        inTime &= rank.waitFor(Math.max(0, left), TimeUnit.NANOSECONDS);
      }
      double toEnd = (System.nanoTime() - lost) / 1e9;
      List<ProcessHandle> orphans = all.stream().filter(ProcessHandle::isAlive).toList();
      all.forEach(ProcessHandle::destroyForcibly);
      String said = Files.readString(outputs.get(0));
      boolean ended = ranks.get(0).waitFor() != 0;
      return new Result(toEnd, ended, finding(strategy, run, inTime, ended, orphans, ranks, said));
    }
  }

  private static boolean bothWork(List<Process> ranks) {
    return ranks.stream().allMatch(rank -> worker(rank).isPresent());
  }

  /**
   * A rank's worker, once it is a Java. Before, the process is the JDK's helper that is to become
   * it, for which the rank waits in native code: to stop it is to stop the rank.
   */
  private static Optional<ProcessHandle> worker(Process rank) {
    return rank.descendants()
        .filter(process -> process.info().command().orElse("").endsWith("/java"))
        .findFirst();
  }

  private static void lose(Loss loss, Process rank, CuttableProxy proxy)
      throws IOException, InterruptedException {
    if (loss == Loss.CUT_OFF) {
      proxy.cut();
      return;
    }
    Optional<ProcessHandle> worker = worker(rank);
    if (worker.isPresent()) {
      String signal = loss == Loss.KILLED ? "-KILL" : "-STOP";
      new ProcessBuilder("kill", signal, "" + worker.get().pid()).start().waitFor();
    }
  }

  private Optional<String> finding(
      String strategy,
      Path run,
      boolean inTime,
      boolean ended,
      List<ProcessHandle> orphans,
      List<Process> ranks,
      String said)
      throws IOException, InterruptedException {
    if (!inTime) {
      return Optional.of("has not ended in time: " + said);
    }
    if (!orphans.isEmpty()) {
      return Optional.of("leaves processes: " + orphans);
    }
    Path last = run;
    if (ended) {
      long sentences = said.lines().filter(line -> line.startsWith("pipewright: ")).count();
      if (ranks.get(0).exitValue() != BROKEN || sentences != 1 || said.contains("\tat ")) {
        return Optional.of("status %d, says %s".formatted(ranks.get(0).exitValue(), said));
      }
      boolean resumes = TrainingRuns.lastCheckpoint(run).isPresent();
      last = resumes ? run : folder.resolve("anew-" + runs);
      List<String> further = arguments(strategy, last);
      if (resumes) {
        further.add("--resume=" + run);
      }
      finish(further);
    }
    return TrainingRuns.same(undisturbed(strategy).state(), TrainingRuns.state(last))
        ? Optional.empty()
        : Optional.of("ends with other parameters");
  }
}
