package dev.pipewright.runtime.checkpoint;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.CRC32C;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The reading half of {@link Shards}. */
final class ShardReader {
  private static final long LONGEST_HEAD = 100_000_000; // what other readers take, too

  private final Path file;
  private final Manifest.Shard shard;
  private final Map<String, Place> places = new LinkedHashMap<>();

  /** The position of a tensor's bytes in the file. */
  private record Place(long[] shape, boolean whole, long begin, long end) {
    long elements() {
      long elements = 1;
      for (long extent : shape) {
        elements = Math.multiplyExact(elements, extent);
      }
      return elements;
    }
  }

  private ShardReader(Path file, Manifest.Shard shard) {
    this.file = file;
    this.shard = shard;
  }

  /** Reads the head; throws {@link BadInputException} where the file is missing, cut or damaged. */
  static ShardReader open(Path folder, Manifest.Shard shard) {
    Path file = folder.resolve(shard.file());
    ShardReader reader = new ShardReader(file, shard);
    try {
      if (!Files.exists(file)) {
        throw new BadInputException(
            file + ": is missing, but the manifest names it; go on from an earlier checkpoint");
      }
      long size = Files.size(file);
      if (size != shard.bytes()) {
        throw new BadInputException(
            file
                + ": has "
                + size
                + " bytes instead of "
                + shard.bytes()
                + "; go on from an earlier checkpoint");
      }
      try (FileChannel channel = FileChannel.open(file)) {
        reader.head(channel);
      }
      return reader;
    } catch (JacksonException | ArithmeticException e) {
      throw ManifestFile.damaged(file);
    } catch (IOException e) {
      throw unreadable(file, e);
    }
  }

  private static BadInputException unreadable(Path file, IOException cause) {
    return new BadInputException(file + ": cannot be read: " + cause.getMessage());
  }

  private void head(FileChannel channel) throws IOException {
    if (shard.bytes() < Long.BYTES) {
      throw ManifestFile.damaged(file);
    }
    long length = read(channel, 0, Long.BYTES).getLong();
    if (length < 2 || length > Math.min(LONGEST_HEAD, shard.bytes() - Long.BYTES)) {
      throw ManifestFile.damaged(file);
    }
    byte[] json = new byte[(int) length];
    read(channel, Long.BYTES, json.length).get(json);
    long begin = Long.BYTES + length;
    JsonNode head = new JsonMapper().readTree(json);
    head.propertyStream()
        .filter(entry -> !entry.getKey().equals("__metadata__"))
        .forEach(entry -> places.put(entry.getKey(), place(entry.getValue(), begin)));
  }

  private Place place(JsonNode entry, long begin) {
    long[] shape = new long[entry.path("shape").size()];
    for (int axis = 0; axis < shape.length; axis++) {
      shape[axis] = entry.path("shape").get(axis).asLong();
    }
    boolean whole = entry.path("dtype").asString("").equals("I64");
    long from = begin + entry.path("data_offsets").path(0).asLong(-1);
    long to = begin + entry.path("data_offsets").path(1).asLong(-1);
    Place place = new Place(shape, whole, from, to);
    long bytes = Math.multiplyExact(place.elements(), whole ? Long.BYTES : Float.BYTES);
    if (from < begin || to > shard.bytes() || to - from != bytes) {
      throw ManifestFile.damaged(file);
    }
    return place;
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

  /** Names and extents of its tensors. */
  Map<String, long[]> shapes() {
    Map<String, long[]> shapes = new LinkedHashMap<>();
    places.forEach((name, place) -> shapes.put(name, place.shape));
    return shapes;
  }

  /** Reads every byte and compares the checksum. */
  void verify() {
    CRC32C crc = new CRC32C();
    ByteBuffer buffer = ByteBuffer.allocate(Shards.CHUNK * Float.BYTES);
    try (FileChannel channel = FileChannel.open(file)) {
      while (channel.read(buffer) >= 0) {
        crc.update(buffer.flip());
        buffer.clear();
      }
    } catch (IOException e) {
      throw unreadable(file, e);
    }
    if ((int) crc.getValue() != shard.checksum()) {
      throw ManifestFile.damaged(file);
    }
  }

  /** A tensor of it, which belongs to the scope that is open. */
  Tensor read(String name) {
    Place place = places.get(name);
    if (place == null) {
      throw new IllegalArgumentException("no such tensor: name=" + name);
    }
    Tensor tensor = place.whole ? Tensor.emptyWhole(place.shape) : Tensor.empty(place.shape);
    try (Scope whole = new Scope();
        FileChannel channel = FileChannel.open(file)) {
      Tensor flat = tensor.reshaped(place.elements());
      int size = place.whole ? Long.BYTES : Float.BYTES;
      for (long first = 0; first < place.elements(); first += Shards.CHUNK) {
        int count = (int) Math.min(Shards.CHUNK, place.elements() - first);
        ByteBuffer bytes = read(channel, place.begin + first * size, count * size);
        try (Scope chunk = new Scope()) {
          flat.part(0, first, count).copyInPlace(numbers(bytes, count, place.whole));
        }
      }
    } catch (IOException e) {
      throw unreadable(file, e);
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
}
