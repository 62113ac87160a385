package dev.pipewright.runtime.checkpoint;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.InputFile;
import dev.pipewright.runtime.checkpoint.TensorHead.Kind;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.zip.CRC32C;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A file of safetensors, of any program: names, dtypes and extents are read at once, values when
 * they are asked for. The bytes of its tensors must follow each other without holes up to the end
 * of the file, as the format demands.
 */
public final class TensorFile {
  private static final long LONGEST_HEAD = 100_000_000; // bytes; what other readers take, too

  /** Bytes of a number, by dtype. */
  private static final Map<String, Integer> WIDTHS =
      Map.ofEntries(
          Map.entry("BOOL", 1),
          Map.entry("U8", 1),
          Map.entry("I8", 1),
          Map.entry("F8_E5M2", 1),
          Map.entry("F8_E4M3", 1),
          Map.entry("U16", 2),
          Map.entry("I16", 2),
          Map.entry("F16", 2),
          Map.entry("BF16", 2),
          Map.entry("U32", 4),
          Map.entry("I32", 4),
          Map.entry(Kind.SINGLE, 4),
          Map.entry("U64", 8),
          Map.entry(Kind.WHOLE, 8),
          Map.entry("F64", 8));

  private static final JsonMapper JSON =
      JsonMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  private final Path file;
  private final SequencedMap<String, Stored> tensors = new LinkedHashMap<>(); // as they lie
  private final Map<String, String> metadata = new HashMap<>();

  /** A tensor and the position of its bytes in the file. */
  private record Stored(Kind kind, long begin, long end) {}

  /**
   * One of the tensors of a file.
   *
   * @param name its name there
   */
  public record Entry(TensorFile file, String name) {
    TensorHead.Kind kind() {
      return file.kind(name);
    }

    /** Numbers that it has. */
    public long elements() {
      return kind().elements();
    }

    /** Whether these are 64-bit integers. */
    boolean isWhole() {
      return kind().dtype().equals(Kind.WHOLE);
    }
  }

  private TensorFile(Path file) {
    this.file = file;
  }

  /** Reads the head; throws {@link BadInputException} where the file is cut or of another kind. */
  public static TensorFile open(Path file) {
    InputFile.check(file);
    TensorFile open = new TensorFile(file);
    try (FileChannel channel = FileChannel.open(file)) {
      open.head(channel);
      return open;
    } catch (JacksonException e) {
      throw BadInputException.in(
          file, "its head is no JSON; give a file of safetensors, or write it once more");
    } catch (IOException e) {
      throw InputFile.unreadable(file, e);
    }
  }

  private void head(FileChannel channel) throws IOException {
    long size = channel.size();
    long length = size < Long.BYTES ? 0 : read(channel, 0, Long.BYTES).getLong();
    if (length < 2 || length > Math.min(LONGEST_HEAD, size - Long.BYTES)) {
      throw BadInputException.in(
          file,
          "begins with no head of safetensors, or ends within it; give a file of safetensors, or"
              + " write it once more");
    }
    byte[] json = new byte[(int) length];
    read(channel, Long.BYTES, json.length).get(json);
    JsonNode head = JSON.readTree(json);
    Map<String, Stored> found = new HashMap<>();
    for (Map.Entry<String, JsonNode> entry : head.properties()) {
      if (entry.getKey().equals(TensorHead.METADATA)) {
        entry
            .getValue()
            .properties()
            .forEach(said -> metadata.put(said.getKey(), said.getValue().asString("")));
      } else {
        found.put(entry.getKey(), stored(entry.getKey(), entry.getValue()));
      }
    }
    inOrder(found, Long.BYTES + length, size);
  }

  private Stored stored(String name, JsonNode entry) {
    String dtype = entry.path("dtype").asString("");
    Integer width = WIDTHS.get(dtype);
    if (width == null) {
      throw BadInputException.in(
          file,
          name
              + " is of the unknown dtype '"
              + dtype
              + "'; convert it to F32, in PyTorch with float()");
    }
    JsonNode offsets = entry.path("data_offsets");
    if (!entry.path("shape").isArray() || offsets.size() != 2) {
      throw malformed(name);
    }
    List<Long> extents = entry.path("shape").valueStream().map(TensorFile::whole).toList();
    Kind kind = new Kind(dtype, extents.stream().mapToLong(Long::longValue).toArray());
    long begin = whole(offsets.get(0));
    long end = whole(offsets.get(1));
    try {
      if (extents.contains(-1L)
          || begin < 0
          || end - begin != Math.multiplyExact(kind.elements(), width)) {
        throw malformed(name);
      }
    } catch (ArithmeticException e) { // more than any file has
      throw malformed(name);
    }
    return new Stored(kind, begin, end);
  }

  /** A number ≥ 0; −1 for anything else. */
  private static long whole(JsonNode value) {
    return value.isIntegralNumber() && value.canConvertToLong() ? Math.max(-1, value.asLong()) : -1;
  }

  private BadInputException malformed(String name) {
    return BadInputException.in(
        file,
        "what its head says of "
            + name
            + " does not fit together; write it once more with a program that follows the format");
  }

  private void inOrder(Map<String, Stored> found, long first, long size) {
    List<Map.Entry<String, Stored>> ordered =
        found.entrySet().stream()
            .sorted(
                Comparator.comparingLong(
                        (Map.Entry<String, Stored> entry) -> entry.getValue().begin)
                    .thenComparingLong(entry -> entry.getValue().end)
                    .thenComparing(Map.Entry::getKey))
            .toList();
    long at = 0;
    for (Map.Entry<String, Stored> entry : ordered) {
      Stored stored = entry.getValue();
      if (stored.begin != at) {
        throw malformed(entry.getKey());
      }
      at = stored.end;
      tensors.put(
          entry.getKey(), new Stored(stored.kind, first + stored.begin, first + stored.end));
    }
    if (first + at != size) {
      throw BadInputException.in(
          file,
          "has %d bytes, but its tensors need %d; it was cut off or changed, so write it once more"
              .formatted(size, first + at));
    }
  }

  private static ByteBuffer read(FileChannel channel, long position, int count) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(count).order(ByteOrder.LITTLE_ENDIAN);
    while (buffer.hasRemaining()) {
      if (channel.read(buffer, position + buffer.position()) < 0) {
        throw new IOException("it ends early");
      }
    }
    return buffer.flip();
  }

  /** What it says of itself. */
  public Map<String, String> metadata() {
    return Collections.unmodifiableMap(metadata);
  }

  /** Its tensors by name, in the order of their bytes. */
  SequencedMap<String, Kind> kinds() {
    SequencedMap<String, Kind> kinds = new LinkedHashMap<>();
    tensors.forEach((name, stored) -> kinds.put(name, stored.kind));
    return kinds;
  }

  /** The dtype and extents of a tensor that it has. */
  Kind kind(String name) {
    return find(name).kind;
  }

  private Stored find(String name) {
    Stored stored = tensors.get(name);
    if (stored == null) {
      throw new IllegalArgumentException("no such tensor: name=" + name);
    }
    return stored;
  }

  /** Takes the bytes of a tensor piece by piece. */
  @FunctionalInterface
  interface Bytes {
    void take(ByteBuffer bytes) throws IOException;
  }

  /** Reads the bytes of a tensor. */
  void read(String name, Bytes to) throws IOException {
    Stored stored = find(name);
    try (FileChannel channel = FileChannel.open(file)) {
      for (long at = stored.begin; at < stored.end; ) {
        int count = (int) Math.min(Shards.CHUNK, stored.end - at);
        to.take(read(channel, at, count));
        at += count;
      }
    }
  }

  /** Whether two tensors have the same bytes. */
  boolean sameBytes(String name, TensorFile other, String otherName) {
    CRC32C own = new CRC32C();
    CRC32C others = new CRC32C();
    try {
      read(name, own::update);
      other.read(otherName, others::update);
    } catch (IOException e) {
      throw InputFile.unreadable(file, e);
    }
    return kind(name).elements() == other.kind(otherName).elements()
        && own.getValue() == others.getValue();
  }

  /** A tensor of it, of 32-bit floats or 64-bit integers; it belongs to the scope that is open. */
  Tensor read(String name) {
    Stored stored = find(name);
    boolean whole = stored.kind.dtype().equals(Kind.WHOLE);
    long[] shape = stored.kind.shape();
    Tensor tensor = whole ? Tensor.emptyWhole(shape) : Tensor.empty(shape);
    try (Scope all = new Scope();
        FileChannel channel = FileChannel.open(file)) {
      long elements = stored.kind.elements();
      Tensor flat = tensor.reshaped(elements);
      int size = whole ? Long.BYTES : Float.BYTES;
      for (long first = 0; first < elements; first += Shards.CHUNK) {
        int count = (int) Math.min(Shards.CHUNK, elements - first);
        ByteBuffer bytes = read(channel, stored.begin + first * size, count * size);
        try (Scope chunk = new Scope()) {
          flat.part(0, first, count).copyInPlace(numbers(bytes, count, whole));
        }
      }
    } catch (IOException e) {
      throw InputFile.unreadable(file, e);
    }
    return tensor;
  }

  private static Tensor numbers(ByteBuffer bytes, int count, boolean whole) {
    if (whole) {
      long[] numbers = new long[count];
      bytes.asLongBuffer().get(numbers);
      return Tensor.ofWhole(numbers, count);
    }
    float[] numbers = new float[count];
    bytes.asFloatBuffer().get(numbers);
    return Tensor.of(numbers, count);
  }

  @Override
  public String toString() {
    return file.toString();
  }
}
