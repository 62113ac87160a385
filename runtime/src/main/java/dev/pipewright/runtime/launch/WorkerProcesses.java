package dev.pipewright.runtime.launch;

import dev.pipewright.execution.CertificateFiles;
import dev.pipewright.formats.file.OutputFile;
import dev.pipewright.runtime.tensor.Gpu;
import dev.pipewright.runtime.tensor.NativeCache;
import dev.pipewright.runtime.tensor.Torch;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The workers on this machine: Java processes like this one, with the same class path. */
final class WorkerProcesses implements AutoCloseable {
  private static final long GRACE_MILLISECONDS = 1000;
  private static final int LOG_LINES = 20;

  /** How many blocks of memory glibc may ask the system for one by one, and return so. */
  private static final String SYSTEM_BLOCKS = "MALLOC_MMAP_MAX_";

  private final Map<Integer, Process> processes = new ConcurrentHashMap<>();
  private final TemporaryFolder temporary;
  private final Path logs;
  private final Token token;
  private final Optional<CertificateFiles> certificates;
  private final boolean launched;
  private volatile boolean closing;

  /**
   * Starts nothing yet.
   *
   * @param logs the folder for what they print; gone with them where none is given
   * @param certificates of this machine, where the run has any
   * @param launched whether a launcher has started this process and may signal all that it starts
   */
  WorkerProcesses(
      Optional<Path> logs, Token token, Optional<CertificateFiles> certificates, boolean launched) {
    logs.ifPresent(given -> requireInside(OutputFile.folder(given)));
    this.temporary = TemporaryFolder.create();
    this.logs = logs.orElse(temporary.path());
    this.token = token;
    this.certificates = certificates;
    this.launched = launched;
  }

  /**
   * How a worker begins. Ctrl-C reaches all processes of a terminal; what becomes of the workers
   * then is for the coordinator to say, and where that ends, they do.
   *
   * <p>Its threads do not interrupt each other when they wake up, as Linux's batch policy has it:
   * otherwise a thread that reads takes the processor from the one that computes for each message.
   * They stay on their {@link ProcessorShares}, the first word of the command. A launcher signals
   * all processes of its ranks, of which only the ranks are to end the run.
   */
  private List<String> beginning() {
    return File.separatorChar == '\\' // Windows has neither
        ? List.of()
        : List.of(
            "/bin/sh",
            "-c",
            "trap '' INT HUP"
                + (launched ? " TERM" : "")
                + "; "
                + "{ chrt -b -p 0 $$; [ -z \"$0\" ] || taskset -c -p \"$0\" $$; } >/dev/null 2>&1; "
                + "exec \"$@\"");
  }

  /** No log may lead out of the folder; workers and their Java machine open it by its name. */
  private static void requireInside(Path logs) {
    try (Stream<Path> files = Files.list(logs)) {
      files
          .filter(file -> file.getFileName().toString().startsWith("rank-"))
          .forEach(OutputFile::notLinked);
    } catch (IOException e) {
      throw OutputFile.failed(logs, "cannot be read", e);
    }
  }

  /** Hears of the end of a worker, in any thread. */
  interface End {
    /**
     * Called with the exit status, as Java counts it: a signal's number plus 128 where one ended
     * it.
     */
    void of(int worker, int status);
  }

  /**
   * Starts so many workers, which share this machine.
   *
   * @param coordinator the address at which they report
   * @param severalMachines whether others are on other machines
   */
  void start(
      int first,
      int count,
      InetSocketAddress coordinator,
      boolean severalMachines,
      Launch.Resources resources,
      End end) {
    ProcessorShares shares = ProcessorShares.ofThisProcess();
    for (int i = 0; i < count; i++) {
      Optional<String> processors =
          resources.apart()
              ? shares.of(i, count, resources.computing().threads())
              : Optional.empty();
      List<String> command = new ArrayList<>();
      if (!beginning().isEmpty()) {
        command.addAll(beginning());
        command.add(processors.orElse(""));
      }
      command.addAll(command(first + i, coordinator, severalMachines, resources));
      certificates.ifPresent(
          files -> command.addAll(List.of(files.certificate(), files.key(), files.authorities())));
      start(first + i, command, resources, end);
    }
  }

  private void start(int worker, List<String> command, Launch.Resources resources, End end) {
    ProcessBuilder builder = new ProcessBuilder(command);
    Map<String, String> environment = builder.environment();
    for (String variable : Torch.THREAD_VARIABLES) {
      environment.put(variable, Integer.toString(resources.computing().threads()));
    }
    environment.putIfAbsent(Gpu.WORKSPACE_VARIABLE, Gpu.WORKSPACE);
    environment.put(Token.VARIABLE, token.text());
    environment.putIfAbsent("MALLOC_ARENA_MAX", "1"); // what one thread frees, all can use
    if (resources.computing().frugal()) {
      returnFreedMemory(environment);
    } else {
      keepFreedMemory(environment);
    }
    environment.putIfAbsent("NCCL_SOCKET_IFNAME", "lo"); // it is used within a machine only
    MatrixProducts.tell(environment, resources.computing().threads());
    builder.redirectErrorStream(true).redirectOutput(log(worker).toFile());
    builder.redirectInput(ProcessBuilder.Redirect.PIPE);
    Process process;
    try {
      process = builder.start();
      process.getOutputStream().close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    processes.put(worker, process);
    if (closing) { // by another thread, which has not seen this one
      process.destroyForcibly();
    }
    Thread watch = new Thread(() -> watch(worker, process, end), "watch worker " + worker);
    watch.setDaemon(true);
    watch.start();
  }

  /**
   * Has the C library keep what tensors give back, however large. Otherwise it returns large blocks
   * to the system, which has to clear every page again in the next step, and in a virtual machine
   * to get it back from the host: a quarter of the step where a language model has many words. What
   * it has comes in huge pages, where the system gives them.
   */
  private static void keepFreedMemory(Map<String, String> environment) {
    environment.putIfAbsent(SYSTEM_BLOCKS, "0");
    environment.putIfAbsent("MALLOC_TRIM_THRESHOLD_", "4294967296");
    environment.putIfAbsent("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");
  }

  /** Has it return all but small pieces at once. */
  private static void returnFreedMemory(Map<String, String> environment) {
    environment.put(SYSTEM_BLOCKS, "65536"); // as glibc has it
    environment.put("MALLOC_MMAP_THRESHOLD_", "65536");
    environment.put("MALLOC_TRIM_THRESHOLD_", "65536");
  }

  private static void watch(int worker, Process process, End end) {
    try {
      end.of(worker, process.waitFor());
    } catch (InterruptedException e) {
      throw new IllegalStateException("this thread is never interrupted", e);
    }
  }

  private List<String> command(
      int worker,
      InetSocketAddress coordinator,
      boolean severalMachines,
      Launch.Resources resources) {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-cp",
        System.getProperty("java.class.path"),
        "-Xmx" + resources.heapMegabytes() + "m",
        "-XX:+UseSerialGC",
        // A worker's Java code only calls the library: a quick start beats a quick
        // run. What is sealed between machines takes the processor's instructions for it, which
        // only the slower compiler uses; where memory counts, that compiler takes too much.
        "-XX:TieredStopAtLevel=" + (severalMachines && !resources.computing().frugal() ? 4 : 1),
        "-XX:CompileThresholdScaling=0.1", // what every step calls, within 20 of them
        "-XX:-UsePerfData",
        // Signals end it at once, also inside the library; its files are whole at any time.
        "-Xrs",
        "-XX:ErrorFile=" + logs.resolve("rank-" + worker + "-crash.log"),
        "-XX:-CreateCoredumpOnCrash",
        "--enable-native-access=ALL-UNNAMED",
        // Tensors are no part of the heap; JavaCPP would hold them to its size.
        "-D" + NativeCache.PROPERTY + "=" + NativeCache.folder(),
        "-Dorg.bytedeco.javacpp.maxbytes=0",
        "-Dorg.bytedeco.javacpp.maxphysicalbytes=0",
        WorkerMain.class.getName(),
        Integer.toString(worker),
        coordinator.getHostString(),
        Integer.toString(coordinator.getPort()),
        Integer.toString(resources.computing().threads()),
        recorder(worker).toString(),
        resources.computing().device().name(),
        Boolean.toString(resources.computing().frugal()));
  }

  Path log(int worker) {
    return logs.resolve("rank-" + worker + ".log");
  }

  private Path recorder(int worker) {
    return temporary.path().resolve("rank-" + worker);
  }

  Optional<Place> last(int worker) {
    return FlightRecorder.last(recorder(worker));
  }

  /** The last that it printed. */
  String lastLines(int worker) {
    try {
      List<String> lines =
          new String(Files.readAllBytes(log(worker)), StandardCharsets.UTF_8).lines().toList();
      return String.join("\n", lines.subList(Math.max(0, lines.size() - LOG_LINES), lines.size()));
    } catch (IOException e) { // it never began
      return "";
    }
  }

  boolean allEnded() {
    return processes.values().stream().noneMatch(Process::isAlive);
  }

  /** Ends all that are left at once, also those that have been stopped. */
  void kill() {
    closing = true;
    processes.values().forEach(Process::destroyForcibly);
  }

  /** Ends all that are left, at the latest when the grace is over. */
  @Override
  public void close() {
    closing = true;
    processes.values().forEach(launched ? Process::destroyForcibly : Process::destroy);
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(GRACE_MILLISECONDS);
    try {
      for (Process process : processes.values()) {
        process.waitFor(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    processes.values().forEach(Process::destroyForcibly);
    temporary.close();
  }
}
