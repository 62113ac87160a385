package dev.pipewright.runtime.checkpoint;

import dev.pipewright.formats.file.OutputFile;
import dev.pipewright.formats.json.JsonText;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.zip.CRC32C;

/**
 * Writes what a worker holds as a file of safetensors, which many programs read: the length of the
 * head as 64 bits, the head in JSON (for each tensor its kind of number, its extents and where its
 * bytes lie), and the bytes, lowest first (<a
 * href="https://huggingface.co/docs/safetensors">format</a>).
 */
public final class Shards {
  /** Numbers that are copied at a time: no tensor is in memory twice. */
  static final int CHUNK = 1 << 18;

  private static final int ALIGNMENT = 8;

  private final FileChannel channel;
  private final CRC32C crc = new CRC32C();
  private final ByteBuffer buffer =
      ByteBuffer.allocate(CHUNK * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
  private long written;

  private Shards(FileChannel channel) {
    this.channel = channel;
  }

  /**
   * Writes tensors, and returns when they are on the disk.
   *
   * @param folder what {@link Checkpoints#begin} gave
   * @param file the file's name, which no other worker takes
   * @param tensors by names that are unique in the checkpoint
   */
  public static Manifest.Shard write(
      Path folder, String file, SequencedMap<String, Tensor> tensors) {
    Path path = folder.resolve(file);
    try (FileChannel channel =
        FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      Shards shard = new Shards(channel);
      shard.head(tensors);
      for (Tensor tensor : tensors.values()) {
        shard.numbers(tensor);
      }
      channel.force(true);
      return new Manifest.Shard(file, shard.written, (int) shard.crc.getValue());
    } catch (IOException e) {
      throw OutputFile.failed(path, "cannot be written", e);
    }
  }

  private void head(SequencedMap<String, Tensor> tensors) throws IOException {
    Map<String, Object> head = new LinkedHashMap<>();
    long at = 0;
    for (Map.Entry<String, Tensor> entry : tensors.entrySet()) {
      Tensor tensor = entry.getValue();
      long bytes = tensor.elements() * (tensor.whole() ? Long.BYTES : Float.BYTES);
      Map<String, Object> place = new LinkedHashMap<>();
      place.put("dtype", tensor.whole() ? "I64" : "F32");
      place.put("shape", Arrays.stream(tensor.shape()).boxed().toList());
      place.put("data_offsets", List.of(at, at + bytes));
      head.put(entry.getKey(), place);
      at += bytes;
    }
    String text = head.isEmpty() ? "{}" : JsonText.of(head);
    byte[] json = text.getBytes(StandardCharsets.UTF_8);
    int padded = (json.length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    byte[] aligned = Arrays.copyOf(json, padded);
    Arrays.fill(aligned, json.length, padded, (byte) ' ');
    put(ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(padded).flip());
    put(ByteBuffer.wrap(aligned));
  }

  private void numbers(Tensor tensor) throws IOException {
    try (Scope whole = new Scope()) {
      Tensor flat = tensor.detached().reshaped(tensor.elements());
      for (long first = 0; first < tensor.elements(); first += CHUNK) {
        long count = Math.min(CHUNK, tensor.elements() - first);
        buffer.clear();
        try (Scope chunk = new Scope()) {
          Tensor part = flat.part(0, first, count);
          if (tensor.whole()) {
            buffer.asLongBuffer().put(part.toWhole());
            buffer.limit((int) count * Long.BYTES);
          } else {
            buffer.asFloatBuffer().put(part.toFloats());
            buffer.limit((int) count * Float.BYTES);
          }
        }
        put(buffer);
      }
    }
  }

  private void put(ByteBuffer bytes) throws IOException {
    crc.update(bytes.duplicate());
    while (bytes.hasRemaining()) {
      written += channel.write(bytes);
    }
  }
}
