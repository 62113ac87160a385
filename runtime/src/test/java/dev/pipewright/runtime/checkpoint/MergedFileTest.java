package dev.pipewright.runtime.checkpoint;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MergedFileTest {
  @TempDir private Path root;

  /** Two stages, each with a copy of a table whose last number is given. */
  private Path checkpoint(float last) {
    Checkpoints checkpoints = new Checkpoints(root.resolve("checkpoints"), 1);
    Path folder = checkpoints.begin(4);
    try (Scope scope = new Scope()) {
      LinkedHashMap<String, Tensor> first = new LinkedHashMap<>();
      first.put("table.weight", Tensor.of(new float[] {1, 2}, 2));
      first.put("table.weight/moment-0", Tensor.of(new float[] {8, 9}, 2));
      first.put("norm.mean", Tensor.of(new float[] {3}, 1));
      first.put("norm.count", Tensor.ofWhole(new long[] {5}, 1));
      LinkedHashMap<String, Tensor> second = new LinkedHashMap<>();
      second.put("head.weight", Tensor.of(new float[] {1, last}, 2));
      second.put("head.bias", Tensor.of(new float[] {7, 7, 7}, 3));
      List<Manifest.Shard> shards =
          List.of(
              Shards.write(folder, "stage-0.safetensors", first),
              Shards.write(folder, "stage-1.safetensors", second));
      Map<String, String> settings = Manifest.tied(Map.of("head.weight", "table.weight"));
      return checkpoints.commit(new Manifest(4, 8, 1, "net", "two stages", settings, shards));
    }
  }

  private static String refusal(Path checkpoint, Path file) {
    return String.valueOf(
        assertThrows(
                BadInputException.class, () -> MergedFile.write(Checkpoint.open(checkpoint), file))
            .getMessage());
  }

  private List<String> files() throws IOException {
    try (Stream<Path> all = Files.list(root)) {
      return all.map(path -> path.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void whatTheOptimizerRemembersAndTheCopyOfATableAreLeftOut() throws IOException {
    Path file = root.resolve("net.safetensors");
    MergedFile.write(Checkpoint.open(checkpoint(2)), file);
    TensorFile read = TensorFile.open(file);
    assertEquals(
        List.of("norm.count", "head.bias", "norm.mean", "table.weight"),
        List.copyOf(read.kinds().keySet()));
    assertEquals("table.weight", read.metadata().get("head.weight"));
    try (Scope scope = new Scope()) {
      assertArrayEquals(new float[] {1, 2}, read.read("table.weight").toFloats());
      assertArrayEquals(new float[] {7, 7, 7}, read.read("head.bias").toFloats());
      assertArrayEquals(new long[] {5}, read.read("norm.count").toWhole());
    }
    assertEquals(List.of("checkpoints", "net.safetensors"), files());
  }

  @Test
  void copiesThatDifferAreRefused() throws IOException {
    Path made = checkpoint(2.5f);
    assertEquals(
        made
            + ": table.weight and head.weight should be the same table and differ; give another"
            + " checkpoint",
        refusal(made, root.resolve("net.safetensors")));
    assertEquals(List.of("checkpoints"), files());
  }

  @Test
  void aDamagedCheckpointLeavesTheFileOfAnEarlierOne() throws IOException {
    Path file = root.resolve("net.safetensors");
    Path made = checkpoint(2);
    MergedFile.write(Checkpoint.open(made), file);
    byte[] before = Files.readAllBytes(file);
    Path shard = made.resolve("stage-1.safetensors");
    byte[] bytes = Files.readAllBytes(shard);
    bytes[bytes.length - 1] ^= 1;
    Files.write(shard, bytes);
    assertEquals(
        shard + ": is damaged: its checksum does not fit; go on from an earlier checkpoint",
        refusal(made, file));
    assertArrayEquals(before, Files.readAllBytes(file));
    assertEquals(List.of("checkpoints", "net.safetensors"), files());
  }

  @Test
  void onlyItsOwnFilesAreReplaced() throws IOException {
    Path file = Files.writeString(root.resolve("net.safetensors"), "precious");
    assertEquals(
        "--out: " + file + " exists and is no such file of Pipewright's; name another",
        refusal(checkpoint(2), file));
    assertEquals("precious", Files.readString(file));
    Path own = root.resolve("own.safetensors");
    MergedFile.write(Checkpoint.open(checkpoint(2)), own);
    MergedFile.write(Checkpoint.open(checkpoint(2)), own);
    assertTrue(Files.exists(own));
    assertFalse(files().stream().anyMatch(name -> name.endsWith(".new")));
  }
}
