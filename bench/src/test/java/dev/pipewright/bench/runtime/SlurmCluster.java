package dev.pipewright.bench.runtime;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A Slurm cluster of the nodes n1 and n2 on this machine, by {@code tools/slurm-two-nodes}. */
final class SlurmCluster implements AutoCloseable {
  private static final Path SCRIPTS = Path.of("../tools/slurm-two-nodes");
  private static final List<String> PROGRAMS =
      List.of("munged", "slurmctld", "slurmd", "sbatch", "mpirun");
  private static final Pattern PORT = Pattern.compile("(?m)\\b(?:Slurmctld)?Port=(\\d+)");

  private final Path folder;
  private final Path work;

  /**
   * Starts it.
   *
   * @param folder for its files; does not exist yet
   * @param work where commands run, with the program {@code pipewright}
   */
  SlurmCluster(Path folder, Path work) throws IOException, InterruptedException {
    this.folder = folder;
    this.work = work;
    RunPrograms.install(work);
    run(List.of(SCRIPTS.resolve("start").toAbsolutePath().toString(), folder.toString()));
  }

  /** A program that is missing here. */
  static Optional<String> missing() {
    List<Path> folders =
        Stream.of((System.getenv("PATH") + ":/usr/sbin").split(":")).map(Path::of).toList();
    return PROGRAMS.stream()
        .filter(program -> folders.stream().noneMatch(f -> Files.exists(f.resolve(program))))
        .findFirst();
  }

  /** What a command prints, which must succeed within two minutes. */
  String run(String... command) throws IOException, InterruptedException {
    return run(List.of(command));
  }

  private String run(List<String> command) throws IOException, InterruptedException {
    Process process = start(command);
    String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    boolean ended = process.waitFor(2, TimeUnit.MINUTES);
    if (!ended || process.exitValue() != 0) {
      process.destroyForcibly();
      throw new AssertionError(command + (ended ? " failed:\n" : " hangs:\n") + printed);
    }
    return printed;
  }

  private Process start(List<String> command) throws IOException {
    List<String> words = new ArrayList<>(List.of("env")); // which looks along the changed PATH
    words.addAll(command);
    ProcessBuilder builder = new ProcessBuilder(words).directory(work.toFile());
    var environment = builder.environment();
    environment.put("SLURM_CONF", folder.resolve("slurm.conf").toString());
    environment.put("MASTER_ADDR", "127.0.0.1"); // n1 is no host that a resolver knows
    environment.put("PATH", work + ":" + environment.get("PATH"));
    environment.put("OPENBLAS_NUM_THREADS", "1");
    environment.put("OMP_NUM_THREADS", "1");
    return builder.redirectErrorStream(true).start();
  }

  /** Submits a script of {@code sbatch}; the job's number. */
  String submit(Path script, String... flags) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("sbatch", "--parsable"));
    command.addAll(List.of(flags));
    command.add(script.toString());
    return run(command).strip();
  }

  /** One line about a job. */
  String job(String number) {
    try {
      return run("scontrol", "--oneliner", "show", "job", number);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Waits until a job has ended; throws with what it has printed where it has not succeeded. */
  void awaitSuccess(String number, Duration patience) throws IOException, InterruptedException {
    await(
        "job " + number + " to end",
        () ->
            job(number)
                .lines()
                .allMatch(line ->
                    !line.matches(
                        ".* JobState=(PENDING|RUNNING|COMPLETING|REQUEUED|SUSPENDED|CONFIGURING) .*")),
        patience);
    if (!job(number).lines().allMatch(line -> line.contains("JobState=COMPLETED "))) {
      throw new AssertionError(job(number) + printed());
    }
  }

  /** Waits for something; throws with what jobs have printed where it does not come. */
  void await(String what, BooleanSupplier condition, Duration patience)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + patience.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError(
            "waited for " + what + "\n" + run("scontrol", "show", "job") + printed());
      }
      Thread.sleep(100);
    }
  }

  /** What jobs have printed. */
  String printed() throws IOException {
    StringBuilder all = new StringBuilder();
    try (Stream<Path> files = Files.list(work)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".out")).sorted().toList()) {
        all.append(file.getFileName()).append(":\n").append(Files.readString(file));
      }
    }
    return all.toString();
  }

  /** Processes that run with this cluster's configuration, as the system lists them. */
  List<String> processes() throws IOException {
    List<String> found = new ArrayList<>();
    String mark = "SLURM_CONF=" + folder.resolve("slurm.conf");
    try (Stream<Path> all = Files.list(Path.of("/proc"))) {
      for (Path process : all.filter(p -> p.getFileName().toString().matches("\\d+")).toList()) {
        if (read(process.resolve("environ")).contains(mark)
            || isLinkInto(process.resolve("cwd"), folder)) { // steps overwrite their environment
          found.add(
              process.getFileName() + " " + read(process.resolve("cmdline")).replace('\0', ' '));
        }
      }
    }
    return found;
  }

  private static String read(Path file) {
    try {
      return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    } catch (IOException e) {
      return ""; // it has ended, or is another user's
    }
  }

  /** Ports of this cluster at which something listens. */
  List<Integer> ports() throws IOException {
    List<Integer> taken = new ArrayList<>();
    Matcher ports = PORT.matcher(Files.readString(folder.resolve("slurm.conf")));
    while (ports.find()) {
      int port = Integer.parseInt(ports.group(1));
      try (ServerSocket free = new ServerSocket()) {
        free.setReuseAddress(true);
        free.bind(new java.net.InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      } catch (IOException e) {
        taken.add(port);
      }
    }
    return taken;
  }

  /** Kills all that runs on a node: its daemon, steps and tasks; returns what they were. */
  List<String> killNode(String node) throws IOException {
    Path log = folder.resolve("log/slurmd-" + node + ".log");
    List<ProcessHandle> killed = new ArrayList<>();
    List<String> names = new ArrayList<>();
    for (String process : processes()) {
      long number = Long.parseLong(process.substring(0, process.indexOf(' ')));
      try (Stream<Path> files = Files.list(Path.of("/proc/" + number + "/fd"))) {
        if (files.anyMatch(file -> isLinkTo(file, log))) {
          ProcessHandle.of(number)
              .ifPresent(handle -> {
                List<ProcessHandle> tasks = handle.descendants().toList();
                killed.add(handle);
                killed.addAll(tasks);
                names.add(process + " with " + tasks.size() + " descendants");
              });
        }
      } catch (IOException e) {
        // it has ended meanwhile
      }
    }
    killed.forEach(ProcessHandle::destroyForcibly); // daemons first, which then report nothing
    return names;
  }

  private static boolean isLinkInto(Path link, Path folder) {
    try {
      return Files.readSymbolicLink(link).startsWith(folder);
    } catch (IOException e) {
      return false;
    }
  }

  private static boolean isLinkTo(Path link, Path file) {
    try {
      return Files.readSymbolicLink(link).equals(file);
    } catch (IOException e) {
      return false;
    }
  }

  /** Starts the daemon of a node that was killed. */
  void startNode(String node) throws IOException, InterruptedException {
    run("env", "PATH=" + System.getenv("PATH") + ":/usr/sbin", "slurmd", "-N", node);
    await("node " + node, () -> state(node).matches("idle|mix|alloc"), Duration.ofMinutes(1));
  }

  private String state(String node) {
    try {
      return run("sinfo", "--noheader", "--nodes=" + node, "--format=%t").strip();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Ends it, by process id. */
  @Override
  public void close() throws IOException, InterruptedException {
    run(SCRIPTS.resolve("stop").toAbsolutePath().toString(), folder.toString());
  }
}
