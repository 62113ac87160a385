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
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class CheckpointsTest {
  @TempDir Path root;
  private Scope scope = new Scope();

  @BeforeEach
  void begin() {
    scope = new Scope();
  }

  @AfterEach
  void end() {
    scope.close();
  }

  private static Manifest manifest(long step, Manifest.Shard... shards) {
    return new Manifest(
        step,
        64 * step,
        -7,
        "mlp \"8\"",
        "2 stages, 1f1b",
        Map.of("optimizer", "adam"),
        List.of(shards));
  }

  private static SequencedMap<String, Tensor> tensors(Object... namesAndTensors) {
    LinkedHashMap<String, Tensor> tensors = new LinkedHashMap<>();
    for (int i = 0; i < namesAndTensors.length; i += 2) {
      tensors.put((String) namesAndTensors[i], (Tensor) namesAndTensors[i + 1]);
    }
    return tensors;
  }

  private static Tensor filled(float value, long... shape) {
    return Tensor.zeros(shape).addInPlace(Tensor.ones(shape), value);
  }

  /** A checkpoint of two stages. */
  private Path save(Checkpoints checkpoints, long step) {
    Path folder = checkpoints.begin(step);
    Manifest.Shard first =
        Shards.write(
            folder,
            "stage-0.safetensors",
            tensors(
                "fc1.weight", filled((float) step, 2, 3), "fc1.bias", filled((float) -step, 2)));
    Manifest.Shard second =
        Shards.write(
            folder,
            "stage-1.safetensors",
            tensors("fc2.weight", filled(0.5f, 4), "count", Tensor.ofWhole(new long[] {step}, 1)));
    return checkpoints.commit(manifest(step, first, second));
  }

  private static Tensor weight(Path checkpoint) {
    return Checkpoint.open(checkpoint).verify().read("fc1.weight", 2, 3);
  }

  private Set<String> names() throws IOException {
    try (Stream<Path> entries = Files.list(root)) {
      return entries.map(path -> path.getFileName().toString()).collect(Collectors.toSet());
    }
  }

  @Test
  void tensorsAreFoundByNameWhoeverWroteThem() {
    Path folder = save(new Checkpoints(root, 3), 123);
    assertEquals("step-000123", folder.getFileName().toString());
    Checkpoint read = Checkpoint.open(folder).verify().requireModel("mlp \"8\"");
    assertEquals(Set.of("fc1.weight", "fc1.bias", "fc2.weight", "count"), read.names());
    assertTrue(read.read("fc1.weight", 2, 3).sameAs(filled(123, 2, 3)));
    assertTrue(read.read("fc2.weight", 4).sameAs(filled(0.5f, 4)));
    assertArrayEquals(new long[] {123}, read.read("count", 1).toWhole());
    Manifest manifest = read.manifest();
    assertEquals(manifest(123, manifest.shards().toArray(Manifest.Shard[]::new)), manifest);
  }

  /** Random tensors of any size come back bit by bit, also larger ones than are copied at once. */
  @RepeatedTest(10)
  void whatIsWrittenIsReadBitByBit(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    LinkedHashMap<String, Tensor> tensors = new LinkedHashMap<>();
    for (int i = 0; i < 6; i++) {
      long rows = random.nextInt(1, 4);
      long columns = i == 0 ? Shards.CHUNK / 2 + 5 : random.nextInt(1, 50);
      int size = Math.toIntExact(rows * columns);
      if (random.nextBoolean()) {
        tensors.put("w" + i, Tensor.ofWhole(random.longs(size).toArray(), rows, columns));
      } else {
        float[] values = new float[size];
        for (int k = 0; k < size; k++) {
          values[k] = Float.intBitsToFloat(random.nextInt());
        }
        Tensor tensor = Tensor.of(values, rows, columns);
        tensors.put("w" + i, random.nextBoolean() ? tensor.transposed(0, 1) : tensor);
      }
    }
    tensors.put("number", Tensor.ones());
    Checkpoints checkpoints = new Checkpoints(root, 1);
    Manifest.Shard shard = Shards.write(checkpoints.begin(1), "all.safetensors", tensors);
    Checkpoint read = Checkpoint.open(checkpoints.commit(manifest(1, shard))).verify();
    tensors.forEach((name, tensor) -> {
      Tensor back = read.read(name, tensor.shape());
      if (tensor.whole()) {
        assertArrayEquals(tensor.toWhole(), back.toWhole());
      } else {
        assertArrayEquals(bits(tensor), bits(back), name);
      }
    });
  }

  private static int[] bits(Tensor tensor) {
    float[] values = tensor.toFloats();
    int[] bits = new int[values.length];
    Arrays.setAll(bits, i -> Float.floatToRawIntBits(values[i]));
    return bits;
  }

  /** By the format's description alone: length, JSON, numbers. */
  @Test
  void shardsAreSafetensors() throws IOException {
    Path folder = save(new Checkpoints(root, 1), 2);
    ByteBuffer bytes =
        ByteBuffer.wrap(Files.readAllBytes(folder.resolve("stage-0.safetensors")))
            .order(ByteOrder.LITTLE_ENDIAN);
    int length = (int) bytes.getLong();
    assertEquals(0, length % 8, "numbers are aligned");
    byte[] json = new byte[length];
    bytes.get(json);
    assertEquals('{', json[0]);
    JsonNode head = new JsonMapper().readTree(json);
    assertEquals("F32", head.get("fc1.bias").get("dtype").asString());
    assertEquals("[2]", head.get("fc1.bias").get("shape").toString());
    assertEquals("[24,32]", head.get("fc1.bias").get("data_offsets").toString());
    assertEquals("[0,24]", head.get("fc1.weight").get("data_offsets").toString());
    bytes.position(8 + length + 24);
    assertEquals(-2f, bytes.getFloat());
    assertEquals(-2f, bytes.getFloat());
    assertFalse(bytes.hasRemaining());
  }

  @Test
  void theLastOnesAreKept() throws IOException {
    Checkpoints checkpoints = new Checkpoints(root, 2);
    for (long step : new long[] {5, 10, 1_000_000, 999_999}) {
      save(checkpoints, step);
    }
    assertEquals(Set.of("step-999999", "step-1000000"), names());
    assertEquals(root.resolve("step-1000000"), checkpoints.latest().orElseThrow());
    assertTrue(new Checkpoints(root.resolve("none"), 1).latest().isEmpty());
  }

  @Test
  @DisabledOnOs(OS.WINDOWS)
  void nothingIsDeletedBehindALink(@TempDir Path elsewhere) throws IOException {
    Path foreign = save(new Checkpoints(elsewhere, 1), 2); // whole, and of another run
    Files.writeString(foreign.resolve("notes.txt"), "precious");
    for (String name : List.of("step-000001", "step-000003.writing", "step-000004.replaced")) {
      Path link = Files.createSymbolicLink(root.resolve(name), foreign);
      assertEquals(
          link + ": is a symbolic link, which is not followed; remove it or name another folder",
          assertThrows(BadInputException.class, () -> new Checkpoints(root, 1).requireInside())
              .getMessage());
      save(new Checkpoints(root, 1), 9);
      Files.delete(link);
    }
    assertEquals(Set.of("step-000009"), names());
    assertTrue(Files.exists(foreign.resolve("notes.txt")));
    assertTrue(weight(foreign).sameAs(filled(2, 2, 3)));
  }

  @Test
  @DisabledOnOs(OS.WINDOWS)
  void aFolderOfCheckpointsThatIsALinkIsReadAndNeverWritten(@TempDir Path elsewhere)
      throws IOException {
    save(new Checkpoints(elsewhere, 1), 2);
    Files.move(elsewhere.resolve("step-000002"), elsewhere.resolve("step-000002.replaced"));
    Path link = Files.createSymbolicLink(root.resolve("checkpoints"), elsewhere);
    assertTrue(new Checkpoints(link, 1).latest().isEmpty());
    assertTrue(Files.exists(elsewhere.resolve("step-000002.replaced")));
    assertThrows(BadInputException.class, () -> new Checkpoints(link, 1).begin(3));
  }

  @Test
  void filesOfOthersInAnOldCheckpointStay() throws IOException {
    Path old = save(new Checkpoints(root, 1), 1);
    Path notes = Files.writeString(old.resolve("notes.txt"), "precious");
    Checkpoints checkpoints = new Checkpoints(root, 1);
    save(checkpoints, 2);
    assertEquals("precious", Files.readString(notes));
    assertEquals(List.of(root.resolve("step-000002")), checkpoints.all());
    try (Stream<Path> files = Files.list(old)) {
      assertEquals(List.of(notes), files.toList());
    }
  }

  /** What a run that is killed at any moment can leave: files that end anywhere, no manifest. */
  @RepeatedTest(20)
  void aRunThatIsKilledWhileWritingLeavesTheLastOneIntact(RepetitionInfo seed) throws IOException {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    Checkpoints checkpoints = new Checkpoints(root, 3);
    save(checkpoints, 10);
    Path writing = checkpoints.begin(20);
    Shards.write(writing, "stage-0.safetensors", tensors("fc1.weight", filled(9, 2, 3)));
    if (random.nextBoolean()) {
      Shards.write(writing, "stage-1.safetensors", tensors("fc2.weight", filled(9, 4)));
    }
    Path cut = writing.resolve("stage-0.safetensors");
    byte[] bytes = Files.readAllBytes(cut);
    Files.write(cut, Arrays.copyOf(bytes, random.nextInt(bytes.length + 1)));
    if (random.nextBoolean()) {
      Files.writeString(writing.resolve(ManifestFile.NAME), "{\"format\": \"pipew");
    }
    Checkpoints next = new Checkpoints(root, 3); // the run that goes on
    assertTrue(weight(next.latest().orElseThrow()).sameAs(filled(10, 2, 3)));
    save(next, 20);
    assertEquals(Set.of("step-000010", "step-000020"), names());
    assertTrue(weight(next.latest().orElseThrow()).sameAs(filled(20, 2, 3)));
  }

  @Test
  void aCheckpointOfTheSameStepIsReplacedAndNeverLost() throws IOException {
    Checkpoints checkpoints = new Checkpoints(root, 3);
    save(checkpoints, 7);
    Path folder = checkpoints.begin(7);
    Manifest.Shard other =
        Shards.write(folder, "all.safetensors", tensors("fc1.weight", filled(1, 2, 3)));
    Path place = checkpoints.commit(manifest(7, other));
    assertEquals(Set.of("step-000007"), names());
    assertTrue(weight(place).sameAs(filled(1, 2, 3)));
    Files.move(place, root.resolve("step-000007.replaced")); // killed between two renamings
    assertEquals(place, new Checkpoints(root, 3).latest().orElseThrow());
    assertTrue(weight(place).sameAs(filled(1, 2, 3)));
  }

  @Test
  void whatIsLeftOfADeletedCheckpointIsNone() throws IOException {
    Checkpoints checkpoints = new Checkpoints(root, 3);
    save(checkpoints, 1);
    Path half = save(checkpoints, 2);
    Files.delete(half.resolve(ManifestFile.NAME));
    assertEquals(List.of(root.resolve("step-000001")), checkpoints.all());
    assertTrue(sentence(half).endsWith("has no manifest.json; give a folder step-…"));
  }

  private static String sentence(Path folder) {
    String message =
        String.valueOf(
            assertThrows(
                    BadInputException.class,
                    () -> {
                      Checkpoint checkpoint = Checkpoint.open(folder).verify();
                      throw new AssertionError("nothing noticed in " + checkpoint.names());
                    })
                .getMessage());
    assertEquals(1, message.lines().count(), message);
    return message;
  }

  @Test
  void everyByteThatIsFlippedIsNoticed() throws IOException {
    Path folder = save(new Checkpoints(root, 1), 3);
    int flips = 0;
    for (String name : List.of(ManifestFile.NAME, "stage-0.safetensors", "stage-1.safetensors")) {
      Path file = folder.resolve(name);
      byte[] whole = Files.readAllBytes(file);
      for (int i = 0; i < whole.length; i++) {
        byte[] damaged = whole.clone();
        damaged[i] ^= (byte) (1 << (i % 8));
        Files.write(file, damaged);
        assertEquals(
            file + ": is damaged: its checksum does not fit; go on from an earlier checkpoint",
            sentence(folder));
        flips++;
      }
      Files.write(file, whole);
    }
    assertTrue(flips > 500, "flips=" + flips);
    Checkpoint.open(folder).verify();
  }

  @Test
  void everyFileThatIsCutIsNoticed() throws IOException {
    Path folder = save(new Checkpoints(root, 1), 3);
    for (String name : List.of(ManifestFile.NAME, "stage-0.safetensors")) {
      Path file = folder.resolve(name);
      byte[] whole = Files.readAllBytes(file);
      for (int length = 0; length < whole.length; length++) {
        Files.write(file, Arrays.copyOf(whole, length));
        assertThrows(BadInputException.class, () -> Checkpoint.open(folder));
      }
      Files.write(file, Arrays.copyOf(whole, whole.length + 1));
      assertThrows(BadInputException.class, () -> Checkpoint.open(folder));
      Files.write(file, whole);
    }
    Path shard = folder.resolve("stage-1.safetensors");
    long size = Files.size(shard);
    Files.write(shard, Arrays.copyOf(Files.readAllBytes(shard), 20));
    assertEquals(
        shard + ": has 20 bytes instead of " + size + "; go on from an earlier checkpoint",
        sentence(folder));
    Files.delete(shard);
    assertEquals(
        shard + ": is missing, but the manifest names it; go on from an earlier checkpoint",
        sentence(folder));
  }

  @Test
  void otherNetworksAndMissingLayersAreOneSentence() {
    Path folder = save(new Checkpoints(root, 1), 3);
    Checkpoint read = Checkpoint.open(folder);
    assertEquals(
        folder + ": was made of mlp \"8\", but the plan is for vgg-16; give a checkpoint of vgg-16",
        assertThrows(BadInputException.class, () -> read.requireModel("vgg-16")).getMessage());
    assertEquals(
        folder
            + ": has no fc9.weight, which the network needs; give a checkpoint of the same network"
            + " and optimizer",
        assertThrows(BadInputException.class, () -> read.read("fc9.weight", 2)).getMessage());
    assertEquals(
        folder
            + ": fc1.weight is 2×3, but the network's is 3×2; give a checkpoint of the same"
            + " network",
        assertThrows(BadInputException.class, () -> read.read("fc1.weight", 3, 2)).getMessage());
  }

  @Test
  void aNewerManifestIsNotGuessedAt() throws IOException {
    Path folder = save(new Checkpoints(root, 1), 3);
    Path file = folder.resolve(ManifestFile.NAME);
    String text = Files.readString(file).replace("\"version\": 1", "\"version\": 9");
    String head = text.substring(0, text.length() - "00000000\"\n}\n".length());
    CRC32C crc = new CRC32C();
    crc.update((head + "00000000\"\n}\n").getBytes(StandardCharsets.UTF_8));
    Files.writeString(file, head + "%08x\"\n}\n".formatted(crc.getValue()));
    assertEquals(
        file
            + ": version 9 of pipewright-checkpoint is newer than this program; update the"
            + " program",
        sentence(folder));
  }
}
