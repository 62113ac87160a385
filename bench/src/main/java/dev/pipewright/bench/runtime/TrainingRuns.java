package dev.pipewright.bench.runtime;

import dev.pipewright.runtime.checkpoint.Checkpoint;
import dev.pipewright.runtime.checkpoint.Checkpoints;
import dev.pipewright.runtime.tensor.Scope;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Training runs as processes of their own, and the checkpoints that they leave. */
final class TrainingRuns {
  static final String TOKEN = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";

  /** Where `./pipewright train` has put libtorch. */
  static final Path LIBRARIES = Path.of("runtime/target/launch/lib");

  private TrainingRuns() {}

  /** The words before the arguments of a command, which finds libtorch in a checkout's root. */
  static List<String> command() {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "--enable-native-access=ALL-UNNAMED",
        "-cp",
        System.getProperty("java.class.path") + File.pathSeparator + LIBRARIES.resolve("*"),
        "dev.pipewright.app.cli.Main");
  }

  /**
   * Starts {@code train}, whose sums have one order.
   *
   * @param output what it prints
   */
  static Process train(List<String> arguments, Path output) throws IOException {
    List<String> command = new ArrayList<>(command());
    command.add("train");
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command);
    builder
        .environment()
        .putAll(
            Map.of("PIPEWRIGHT_TOKEN", TOKEN, "OPENBLAS_NUM_THREADS", "1", "OMP_NUM_THREADS", "1"));
    return builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
  }

  /** The folder of a run's last checkpoint. */
  static Optional<Path> lastCheckpoint(Path run) {
    return new Checkpoints(run.resolve("checkpoints"), 1).latest();
  }

  /** All tensors of a run's last checkpoint by name: parameters and the optimizer's states. */
  static Map<String, float[]> state(Path run) {
    Map<String, float[]> state = new TreeMap<>();
    Checkpoint checkpoint = Checkpoint.open(lastCheckpoint(run).orElseThrow()).verify();
    for (String name : checkpoint.names()) {
      try (Scope scope = new Scope()) {
        state.put(name, checkpoint.read(name, checkpoint.shape(name)).toFloats());
      }
    }
    return state;
  }

  /** Whether two runs have the same tensors, bit by bit. */
  static boolean same(Map<String, float[]> one, Map<String, float[]> other) {
    return one.keySet().equals(other.keySet())
        && one.entrySet().stream()
            .allMatch(entry -> Arrays.equals(entry.getValue(), other.get(entry.getKey())));
  }
}
