package dev.pipewright.runtime.training;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.NotEnoughMemoryException;
import dev.pipewright.execution.TrainingRequest;
import dev.pipewright.execution.TrainingRequest.Execution;
import dev.pipewright.execution.TrainingRequest.Keeping;
import dev.pipewright.execution.TrainingRequest.Learning;
import dev.pipewright.execution.TrainingRequest.Workers;
import dev.pipewright.execution.UpdateRule;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Optimizer;
import dev.pipewright.plan.Assignment;
import dev.pipewright.schedule.OneForwardOneBackward;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a user gets to read: one sentence with place, value and remedy. */
class MistakesTest {
  private static final Assignment ALONE =
      Runs.stages(OneForwardOneBackward.of(1, 1), List.of(1), 0);

  @TempDir private Path folder;

  private static TrainingRequest request(
      String model,
      Assignment assignment,
      UpdateRule rule,
      String data,
      Workers workers,
      Keeping keeping) {
    return new TrainingRequest(
        model,
        OptionalInt.empty(),
        assignment,
        new Learning(rule, data, 6, Runs.SEED),
        Execution.usual(workers),
        keeping);
  }

  private Keeping resuming(Path from) {
    return new Keeping(Optional.empty(), 0, 1, Optional.of(from.toString()));
  }

  private static String sentence(TrainingRequest request) {
    BadInputException mistake =
        assertThrows(BadInputException.class, () -> new Trainer().train(request, step -> {}));
    String sentence = String.valueOf(mistake.getMessage());
    assertTrue(sentence.contains("; ") && !sentence.contains("\n"), sentence);
    return sentence;
  }

  private String resumed(String model, Optimizer optimizer, Path from) {
    return sentence(
        request(
            model, ALONE, UpdateRule.usual(optimizer), Runs.DATA, Workers.THREADS, resuming(from)));
  }

  private Path trained() {
    Runs.hybrid(Workers.THREADS, 4, 4).run(folder);
    return Runs.last(folder);
  }

  @Test
  void aDamagedCheckpoint() throws IOException {
    Path file = trained().resolve("stage-1.safetensors");
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length - 7] ^= 4;
    Files.write(file, bytes);
    assertEquals(
        file + ": is damaged: its checksum does not fit; go on from an earlier checkpoint",
        resumed(Runs.MODEL, Optimizer.ADAM, folder));
  }

  @Test
  void aCheckpointWhoseFileIsCut() throws IOException {
    Path file = trained().resolve("stage-0.safetensors");
    byte[] bytes = Files.readAllBytes(file);
    Files.write(file, Arrays.copyOf(bytes, bytes.length / 2));
    assertEquals(
        "%s: has %d bytes instead of %d; go on from an earlier checkpoint"
            .formatted(file, bytes.length / 2, bytes.length),
        resumed(Runs.MODEL, Optimizer.ADAM, folder));
  }

  @Test
  void aCheckpointOfAnotherNetwork() {
    String other = "mlp:layers=3,hidden=8,in=12,classes=4";
    assertEquals(
        "%s: was made of %s, but the plan is for %s; give a checkpoint of %s"
            .formatted(trained(), Runs.MODEL, other, other),
        resumed(other, Optimizer.ADAM, folder));
  }

  @Test
  void aCheckpointOfAnotherOptimizer() {
    assertEquals(
        "--optimizer: %s was made with adam, not sgd; give --optimizer adam".formatted(trained()),
        resumed(Runs.MODEL, Optimizer.SGD, folder));
  }

  /** Before any worker starts. */
  @ParameterizedTest
  @CsvSource({"xlnet-36, block-1 (transformer block)", "amoebanet-36, stem (cell)"})
  void aNetworkOfWhichOnlySizesAreKnown(String model, String layer) {
    int size = Chain.of(RunnableModel.of(model)).size();
    Assignment alone =
        new Assignment(
            OneForwardOneBackward.of(1, 1),
            List.of(Assignment.StageLayers.keeping(0, size - 1)),
            List.of(1),
            4,
            false);
    for (Workers workers : Workers.values()) {
      assertEquals(
          "%s: this network cannot be trained or measured: of its layer %s only sizes and times are known; give a network all of whose layers are operators"
              .formatted(model, layer),
          sentence(
              request(
                  model,
                  alone,
                  UpdateRule.usual(Optimizer.ADAM),
                  "synthetic",
                  workers,
                  Keeping.NOTHING)));
    }
  }

  @Test
  void noCheckpoint() {
    assertEquals(
        "--resume: %s holds no checkpoint; give a folder step-… or one that holds some"
            .formatted(folder),
        resumed(Runs.MODEL, Optimizer.SGD, folder));
  }

  @Test
  void aFolderOfAnotherRun() {
    trained();
    Keeping again = new Keeping(Optional.of(folder.toString()), 2, 1, Optional.empty());
    assertEquals(
        "--out: %s holds another run; name another folder, or go on with --resume %s"
            .formatted(folder, folder),
        sentence(
            request(
                Runs.MODEL,
                ALONE,
                UpdateRule.usual(Optimizer.SGD),
                Runs.DATA,
                Workers.THREADS,
                again)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "metrics.jsonl",
        "tensorboard",
        "memory",
        "logs",
        "logs/rank-0.log",
        "logs/rank-0-crash.log",
        "checkpoints",
        "checkpoints/step-000002",
        "checkpoints/step-000002.writing",
        "checkpoints/step-000002.replaced"
      })
  @DisabledOnOs(OS.WINDOWS)
  void aFolderOfWhichALinkLeadsOut(String name, @TempDir Path elsewhere) throws IOException {
    Path precious = Files.writeString(elsewhere.resolve("precious"), "text");
    Path link = folder.resolve(name);
    Files.createDirectories(link.getParent());
    Files.createSymbolicLink(link, name.contains("rank") ? precious : elsewhere);
    String said =
        sentence(
            request(
                Runs.MODEL,
                ALONE,
                UpdateRule.usual(Optimizer.SGD),
                Runs.DATA,
                Workers.PROCESSES,
                new Keeping(Optional.of(folder.toString()), 2, 1, Optional.empty())));
    assertTrue(said.contains(link + (name.contains("/") ? ":" : "") + " is a symbolic link"), said);
    assertEquals("text", Files.readString(precious));
    try (Stream<Path> files = Files.list(elsewhere)) {
      assertEquals(List.of(precious), files.toList());
    }
  }

  @Test
  void dataThatEndInTheMiddle() throws IOException {
    Path file = folder.resolve("data_batch_1.bin");
    Files.write(file, new byte[3073 * 3 - 1]);
    String said =
        sentence(
            request(
                "cnn-64-128-256",
                Runs.stages(OneForwardOneBackward.of(1, 1), List.of(1), 0),
                UpdateRule.usual(Optimizer.SGD),
                "cifar10:" + file,
                Workers.THREADS,
                Keeping.NOTHING));
    assertTrue(said.startsWith(file.toString()), said);
  }

  @ParameterizedTest
  @EnumSource(Workers.class)
  void aLossThatIsNoNumber(Workers workers) {
    String said =
        sentence(
            request(
                Runs.MODEL,
                ALONE,
                new UpdateRule(Optimizer.SGD, 1e30, 0, 0),
                Runs.DATA,
                workers,
                Keeping.NOTHING));
    assertTrue(
        said.matches(
            "the loss is (NaN|Infinity) in step [1-5]; a smaller --learning-rate usually helps"),
        said);
  }

  /** The parameters alone need 4 × 4 bytes each under Adam. */
  @Test
  void memoryThatWillRunOutIsToldBeforehandUnlessForced() {
    String model = "mlp:layers=2,hidden=100000,in=100000,classes=4";
    Assignment whole =
        new Assignment(
            OneForwardOneBackward.of(1, 1),
            List.of(
                Assignment.StageLayers.keeping(0, Chain.of(RunnableModel.of(model)).size() - 1)),
            List.of(1),
            4,
            false);
    TrainingRequest request =
        request(
            model,
            whole,
            UpdateRule.usual(Optimizer.ADAM),
            "synthetic",
            Workers.PROCESSES,
            Keeping.NOTHING);
    double needed = MemoryNeed.bytes(request, RunnableModel.of(model));
    assertEquals(2.0 * 1e10 * 16, needed, 0.01 * needed);
    String said =
        assertThrows(
                NotEnoughMemoryException.class, () -> MemoryNeed.check(request, needed, 64L << 30))
            .getMessage();
    assertEquals(
        "the worker will need 298 GiB of memory, but this machine has 64 GiB free; take a"
            + " smaller batch or network, more micro-batches or recomputation, or insist with"
            + " --force",
        said);
    MemoryNeed.check(request, 60e9, 64L << 30);
  }
}
