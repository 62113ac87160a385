package dev.pipewright.runtime.checkpoint;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.file.InputFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/** The reading half of {@link Shards}: files that a manifest names. */
final class ShardReader {
  private ShardReader() {}

  /** Reads the head; throws {@link BadInputException} where the file is missing, cut or damaged. */
  static TensorFile open(Path folder, Manifest.Shard shard) {
    Path file = folder.resolve(shard.file());
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
    } catch (IOException e) {
      throw InputFile.unreadable(file, e);
    }
    TensorFile tensors;
    try {
      tensors = TensorFile.open(file);
    } catch (BadInputException e) {
      throw ManifestFile.damaged(file);
    }
    for (TensorHead.Kind kind : tensors.kinds().values()) {
      if (!kind.isTrained()) {
        throw ManifestFile.damaged(file);
      }
    }
    return tensors;
  }

  /** Reads every byte and compares the checksum. */
  static void verify(Path folder, Manifest.Shard shard) {
    Path file = folder.resolve(shard.file());
    CRC32C crc = new CRC32C();
    ByteBuffer buffer = ByteBuffer.allocate(Shards.CHUNK * Float.BYTES);
    try (FileChannel channel = FileChannel.open(file)) {
      while (channel.read(buffer) >= 0) {
        crc.update(buffer.flip());
        buffer.clear();
      }
    } catch (IOException e) {
      throw InputFile.unreadable(file, e);
    }
    if ((int) crc.getValue() != shard.checksum()) {
      throw ManifestFile.damaged(file);
    }
  }
}
