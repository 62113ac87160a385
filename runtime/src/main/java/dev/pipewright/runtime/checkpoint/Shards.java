package dev.pipewright.runtime.checkpoint;

import dev.pipewright.formats.file.OutputFile;
import dev.pipewright.runtime.checkpoint.TensorFile.Entry;
import dev.pipewright.runtime.checkpoint.TensorHead.Kind;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.zip.CRC32C;

/**
 * Writes tensors as files of safetensors, which many programs read: a {@linkplain TensorHead head}
 * and the bytes, lowest first.
 */
public final class Shards {
  /** Numbers that are copied at a time: no tensor is in memory twice. */
  static final int CHUNK = 1 << 18;

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
      SequencedMap<String, Kind> kinds = new LinkedHashMap<>();
      tensors.forEach((name, tensor) -> kinds.put(name, Kind.of(tensor)));
      shard.put(TensorHead.of(kinds, Map.of()));
      for (Tensor tensor : tensors.values()) {
        shard.numbers(tensor);
      }
      channel.force(true);
      return new Manifest.Shard(file, shard.written, (int) shard.crc.getValue());
    } catch (IOException e) {
      throw OutputFile.failed(path, "cannot be written", e);
    }
  }

  /**
   * Copies tensors of other files into a file of a checkpoint.
   *
   * @param folder what {@link Checkpoints#begin} gave
   * @param tensors and the file that has each, by name
   */
  public static Manifest.Shard copy(Path folder, String file, SequencedMap<String, Entry> tensors) {
    Path path = folder.resolve(file);
    try (FileChannel channel =
        FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      Shards shard = copy(channel, tensors, Map.of());
      channel.force(true);
      return new Manifest.Shard(file, shard.written, (int) shard.crc.getValue());
    } catch (IOException e) {
      throw OutputFile.failed(path, "cannot be written", e);
    }
  }

  /** Writes tensors of other files one after the other. */
  static Shards copy(
      FileChannel channel, SequencedMap<String, Entry> tensors, Map<String, String> metadata)
      throws IOException {
    SequencedMap<String, Kind> kinds = new LinkedHashMap<>();
    tensors.forEach((name, entry) -> kinds.put(name, entry.kind()));
    Shards shard = new Shards(channel);
    shard.put(TensorHead.of(kinds, metadata));
    for (Entry entry : tensors.values()) {
      entry.file().read(entry.name(), shard::put);
    }
    return shard;
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
