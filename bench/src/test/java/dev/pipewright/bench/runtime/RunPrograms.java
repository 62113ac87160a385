package dev.pipewright.bench.runtime;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.runtime.checkpoint.Checkpoint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;

/** Pipewright's command line as processes of their own, and what runs leave. */
final class RunPrograms {
  private RunPrograms() {}

  /** Writes a program {@code pipewright} into a folder, for scripts that look for it by PATH. */
  static void install(Path folder) throws IOException {
    StringBuilder words = new StringBuilder();
    TrainingRuns.command()
        .forEach(word -> words.append('\'').append(word.replace("'", "'\\''")).append("' "));
    Path program = folder.resolve("pipewright");
    Files.writeString(program, "#!/bin/bash\nexec " + words + "\"$@\"\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
  }

  /** Writes a plan of two stages on a device each of two machines for the tests' network. */
  static Path planOfTwo(Path file) throws IOException {
    return Files.writeString(
        file,
        """
        {
          "format": "pipewright-plan",
          "version": 1,
          "cost_model": "pipewright",
          "model": "mlp:layers=3,hidden=16,in=12,classes=4",
          "cluster": "dapple-b:2",
          "global_batch": 8,
          "optimizer": "momentum",
          "precision": "fp32",
          "plan": {
            "schedule": "1f1b",
            "micro_batches": 2,
            "micro_batch": 4,
            "replicas": 1,
            "overlap_allreduce": false,
            "stages": [
              {"layers": [0, 2], "devices": [0], "in_flight": 2, "recompute": "none"},
              {"layers": [3, 4], "devices": [1], "in_flight": 1, "recompute": "none"}
            ]
          }
        }
        """);
  }

  /**
   * Asserts that a run which went on under another plan, whose sums have another order, ends close
   * to one without interruption, and that this one has learned.
   */
  static void assertNearState(Path expected, Path found, double difference) {
    Map<String, float[]> first = TrainingRuns.state(expected);
    Map<String, float[]> second = TrainingRuns.state(found);
    assertEquals(first.keySet(), second.keySet());
    first.forEach(
        (name, values) -> assertArrayEquals(values, second.get(name), (float) difference, name));
  }

  /** The steps that a run has made at its last checkpoint. */
  static long steps(Path run) {
    return Checkpoint.open(TrainingRuns.lastCheckpoint(run).orElseThrow())
        .verify()
        .manifest()
        .step();
  }

  /** Asserts that two runs end with the same tensors, bit by bit. */
  static void assertSameState(Path expected, Path found) {
    Map<String, float[]> first = TrainingRuns.state(expected);
    Map<String, float[]> second = TrainingRuns.state(found);
    assertEquals(first.keySet(), second.keySet());
    first.forEach((name, values) -> assertArrayEquals(values, second.get(name), name));
  }
}
