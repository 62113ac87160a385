package dev.pipewright.runtime.training;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.pipewright.execution.TrainingRequest.Workers;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Optimizer;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.schedule.OneForwardOneBackward;
import java.io.ByteArrayOutputStream;
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
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that are no set of a network's parameters: one sentence each, and nothing is written. */
class ForeignParametersTest {
  private static final String TIED = "gpt:layers=1,hidden=2,heads=1,sequence=2,vocabulary=3";

  @TempDir private Path folder;
  private Path file = Path.of("");

  @BeforeEach
  void name() {
    file = folder.resolve("net.safetensors");
  }

  /** The tensors of {@link Runs#MODEL}, as another program would write them. */
  private static Map<String, long[]> network() {
    Map<String, long[]> shapes = new LinkedHashMap<>();
    shapes.put("fc1.weight", new long[] {16, 12});
    shapes.put("fc1.bias", new long[] {16});
    shapes.put("fc2.weight", new long[] {16, 16});
    shapes.put("fc2.bias", new long[] {16});
    shapes.put("fc3.weight", new long[] {16, 16});
    shapes.put("fc3.bias", new long[] {16});
    shapes.put("classifier.weight", new long[] {4, 16});
    shapes.put("classifier.bias", new long[] {4});
    return shapes;
  }

  private static byte[] bytes(Map<String, long[]> tensors) {
    StringBuilder head = new StringBuilder("{");
    int at = 0;
    for (Map.Entry<String, long[]> tensor : tensors.entrySet()) {
      int end = at + 4 * (int) Arrays.stream(tensor.getValue()).reduce(1, (a, b) -> a * b);
      head.append(head.length() > 1 ? "," : "")
          .append('"')
          .append(tensor.getKey())
          .append("\":{\"dtype\":\"F32\",\"shape\":")
          .append(Arrays.toString(tensor.getValue()))
          .append(",\"data_offsets\":[%d,%d]}".formatted(at, end));
      at = end;
    }
    return bytes(head.append('}').toString(), new byte[at]);
  }

  private static byte[] bytes(String head, byte[] data) {
    byte[] json = head.getBytes(StandardCharsets.UTF_8);
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(
        ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(json.length).array());
    all.writeBytes(json);
    all.writeBytes(data);
    return all.toByteArray();
  }

  private String refusal(String model, byte[] bytes) throws IOException {
    Files.write(file, bytes);
    Path out = folder.resolve("run");
    String message =
        String.valueOf(
            assertThrows(
                    BadInputException.class,
                    () ->
                        new CheckpointFiles()
                            .start(file.toString(), model, OptionalInt.empty(), out.toString()))
                .getMessage());
    assertFalse(Files.exists(out), "something is left");
    assertEquals(1, message.lines().count(), message);
    return message.replace(folder.toString(), "…");
  }

  private String refusal(Map<String, long[]> tensors) throws IOException {
    return refusal(Runs.MODEL, bytes(tensors));
  }

  private void starts(String model, byte[] bytes) throws IOException {
    Files.write(file, bytes);
    new CheckpointFiles()
        .start(file.toString(), model, OptionalInt.empty(), folder.resolve("run").toString());
  }

  @Test
  void theNetworkItselfIsTaken() throws IOException {
    starts(Runs.MODEL, bytes(network()));
    assertEquals(0, Runs.manifest(folder.resolve("run")).step());
  }

  @Test
  void aFolderThatHoldsARunIsLeftAlone() throws IOException {
    starts(Runs.MODEL, bytes(network()));
    assertEquals(
        "--out: %s holds another run; name another folder".formatted(folder.resolve("run")),
        assertThrows(BadInputException.class, () -> starts(Runs.MODEL, bytes(network())))
            .getMessage());
  }

  @Test
  void missingAndSurplusTensorsAreNamed() throws IOException {
    Map<String, long[]> some = network();
    some.remove("fc3.bias");
    assertEquals(
        "…/net.safetensors: has no fc3.bias, which "
            + Runs.MODEL
            + " needs; give a file of this"
            + " network, with its names",
        refusal(some));
    some.remove("fc3.weight");
    some.put("layers.2.weight", new long[] {16, 16});
    assertEquals(
        "…/net.safetensors: has no fc3.weight and 1 more, which "
            + Runs.MODEL
            + " needs; give a"
            + " file of this network, with its names instead of layers.2.weight",
        refusal(some));
    Map<String, long[]> more = network();
    more.put("fc4.bias", new long[] {16});
    assertEquals(
        "…/net.safetensors: has fc4.bias, which "
            + Runs.MODEL
            + " does not have; give a file of"
            + " this network alone",
        refusal(more));
  }

  @Test
  void otherExtentsAndDtypesAreNamed() throws IOException {
    Map<String, long[]> turned = network();
    turned.put("fc1.weight", new long[] {12, 16});
    assertEquals(
        "…/net.safetensors: fc1.weight is 12×16, but that of "
            + Runs.MODEL
            + " is 16×12; give a"
            + " file of this network",
        refusal(turned));
    String head = text(bytes(network()));
    byte[] data = new byte[4 * elements()];
    assertEquals(
        "…/net.safetensors: fc1.weight is U32, but training computes with F32; convert it, in"
            + " PyTorch with float()",
        refusal(Runs.MODEL, bytes(head.replaceFirst("F32", "U32"), data)));
    assertEquals(
        "…/net.safetensors: fc1.weight is of the unknown dtype 'F4'; convert it to F32, in PyTorch"
            + " with float()",
        refusal(Runs.MODEL, bytes(head.replaceFirst("F32", "F4"), data)));
    assertEquals(
        "…/net.safetensors: what its head says of fc1.weight does not fit together; write it once"
            + " more with a program that follows the format",
        refusal(Runs.MODEL, bytes(head.replaceFirst("F32", "BF16"), data)));
    assertEquals(
        "…/net.safetensors: what its head says of fc1.bias does not fit together; write it once"
            + " more with a program that follows the format",
        refusal(Runs.MODEL, bytes(head.replaceFirst("768,832", "764,828"), data)));
  }

  private static int elements() {
    return network().values().stream()
        .mapToInt(shape -> (int) Arrays.stream(shape).reduce(1, (a, b) -> a * b))
        .sum();
  }

  private static String text(byte[] bytes) {
    int length = (int) ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong();
    return new String(bytes, 8, length, StandardCharsets.UTF_8);
  }

  @Test
  void aFileThatIsCutAnywhereIsRefused() throws IOException {
    byte[] whole = bytes(network());
    for (int length = 0; length < whole.length; length += length < 600 ? 1 : 97) {
      String message = refusal(Runs.MODEL, Arrays.copyOf(whole, length));
      assertEquals("…/net.safetensors: ", message.substring(0, 19), message);
    }
    assertEquals(
        "…/net.safetensors: has %d bytes, but its tensors need %d; it was cut off or changed, so"
                .formatted(whole.length - 1, whole.length)
            + " write it once more",
        refusal(Runs.MODEL, Arrays.copyOf(whole, whole.length - 1)));
    assertEquals(
        "…/net.safetensors: begins with no head of safetensors, or ends within it; give a file of"
            + " safetensors, or write it once more",
        refusal(Runs.MODEL, new byte[] {'P', 'K', 3, 4, 0, 0, 0, 0, 8, 8}));
  }

  /** Whatever is wrong in the head, there is a sentence or a network. */
  @RepeatedTest(20)
  void noHeadFails(RepetitionInfo seed) throws IOException {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    String[] pieces = {"-1", "1e99", "null", "{}", "[", "\"", "9223372036854775807", "0.5", ","};
    String head = text(bytes(network()));
    for (int i = 0; i < 20; i++) {
      int at = random.nextInt(head.length());
      int end = Math.min(head.length(), at + random.nextInt(4));
      String piece = pieces[random.nextInt(pieces.length)];
      String bad = head.substring(0, at) + piece + head.substring(end);
      Path out = folder.resolve("run-" + i);
      Files.write(file, bytes(bad, new byte[4 * elements()]));
      try {
        new CheckpointFiles()
            .start(file.toString(), Runs.MODEL, OptionalInt.empty(), out.toString());
        assertEquals(network().keySet(), Safetensors.head(file).propertyNames(), bad);
      } catch (BadInputException e) {
        assertEquals(1, String.valueOf(e.getMessage()).lines().count(), e.getMessage());
        assertFalse(Files.exists(out), bad);
      }
    }
  }

  @Test
  void aTiedTableMayBeThereOnceOrTwiceButNotDiffer() throws IOException {
    Map<String, long[]> shapes = new LinkedHashMap<>();
    shapes.put("embedding.weight", new long[] {3, 2});
    shapes.put("embedding.positions", new long[] {2, 2});
    for (String half : List.of("attention", "perceptron")) {
      long inner = half.equals("attention") ? 6 : 8;
      shapes.put("block-1." + half + ".scale", new long[] {2});
      shapes.put("block-1." + half + ".shift", new long[] {2});
      shapes.put("block-1." + half + ".in.weight", new long[] {inner, 2});
      shapes.put("block-1." + half + ".in.bias", new long[] {inner});
      shapes.put(
          "block-1." + half + ".out.weight", new long[] {2, half.equals("attention") ? 2 : 8});
      shapes.put("block-1." + half + ".out.bias", new long[] {2});
    }
    shapes.put("head.scale", new long[] {2});
    shapes.put("head.shift", new long[] {2});
    starts(TIED, bytes(shapes));
    delete(folder.resolve("run"));
    shapes.put("head.weight", new long[] {3, 2});
    starts(TIED, bytes(shapes));
    delete(folder.resolve("run"));
    byte[] differing = bytes(shapes);
    differing[differing.length - 1] = 1;
    assertEquals(
        "…/net.safetensors: embedding.weight and head.weight are the same table in "
            + TIED
            + ", but differ; leave the wrong one out",
        refusal(TIED, differing));
    int size = Chain.of(RunnableModel.of(TIED)).size();
    Assignment alone =
        new Assignment(
            OneForwardOneBackward.of(1, 1),
            List.of(StageLayers.keeping(0, size - 1)),
            List.of(1),
            Runs.BATCH,
            false);
    starts(TIED, bytes(shapes));
    new Runs(TIED, alone, Optimizer.MOMENTUM, Workers.THREADS, 2, 2)
        .resume(folder.resolve("run"), folder.resolve("ended"));
    assertEquals(2, Runs.manifest(folder.resolve("ended")).step());
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path path : all.sorted((a, b) -> b.compareTo(a)).toList()) {
        Files.delete(path);
      }
    }
  }
}
