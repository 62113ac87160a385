package dev.pipewright.runtime.data;

import dev.pipewright.formats.file.BadInputException;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * The bytes of a file, read from any place by any thread. A compressed file is held in memory, any
 * other stays where it is, open as long as the process lives.
 */
abstract class FileBytes implements AutoCloseable {
  private final Path file;

  private FileBytes(Path file) {
    this.file = file;
  }

  /**
   * Throws {@link BadInputException} where the file cannot be read or is compressed and damaged.
   */
  static FileBytes open(Path file) {
    return open(file, mostUnpacked());
  }

  /**
   * Opens a file, with so many bytes of memory left for what a compressed file unpacks to.
   *
   * @param room at most {@link #mostUnpacked}
   */
  static FileBytes open(Path file, long room) {
    if (!Files.exists(file)) {
      throw wrong(file, "no such file; give the path of an existing file");
    }
    if (Files.isDirectory(file)) {
      throw wrong(file, "is a directory; give the path of a file in it");
    }
    if (!Files.isRegularFile(file)) {
      throw wrong(file, "is a pipe or a device; give the path of a file");
    }
    try {
      return file.toString().endsWith(".gz") ? inMemory(file, room) : new OnDisk(file);
    } catch (IOException e) {
      throw unreadable(file, e);
    }
  }

  static BadInputException wrong(Path file, String sentence) {
    return new BadInputException(file + ": " + sentence);
  }

  static BadInputException unreadable(Path file, IOException cause) {
    String reason = cause.getMessage() == null ? "the system gives no reason" : cause.getMessage();
    return wrong(file, "cannot be read: " + reason);
  }

  /** The most bytes that compressed files of one data set may unpack to. */
  static long mostUnpacked() {
    return Math.min(Runtime.getRuntime().maxMemory() / 4, Integer.MAX_VALUE - 9);
  }

  private static FileBytes inMemory(Path file, long room) throws IOException {
    byte[] bytes = unpacked(file, (int) room + 1);
    if (bytes.length > room) {
      throw wrong(
          file,
          (room < mostUnpacked() ? "unpacks, with the data's other files, to" : "unpacks to")
              + " more than %,d bytes, a quarter of the memory that Java may use; unpack it with gunzip"
                  .formatted(mostUnpacked()));
    }
    return new InMemory(file, bytes);
  }

  /** The first bytes, unpacked where the file is compressed, as many of {@code most} as it has. */
  static byte[] head(Path file, int most) {
    try (FileBytes bytes = file.toString().endsWith(".gz") ? null : open(file)) {
      return bytes == null
          ? unpacked(file, most)
          : bytes.read(0, (int) Math.min(most, bytes.size()));
    } catch (IOException e) {
      throw unreadable(file, e);
    }
  }

  private static byte[] unpacked(Path file, int most) throws IOException {
    try (InputStream packed = new BufferedInputStream(Files.newInputStream(file));
        GZIPInputStream in = new GZIPInputStream(packed)) {
      return in.readNBytes(most);
    } catch (EOFException e) {
      throw wrong(
          file,
          "the compressed file is cut off after " + Files.size(file) + " bytes; fetch it again");
    } catch (ZipException e) {
      throw wrong(file, "is no gzip file, or damaged: " + e.getMessage() + "; fetch it again");
    }
  }

  /** What is wrong with the file as a whole. */
  BadInputException wrong(String sentence) {
    return wrong(file, sentence);
  }

  abstract long size();

  /** Bytes of memory that it holds. */
  abstract long held();

  /** Bytes from {@code position} on. */
  final byte[] read(long position, int count) {
    byte[] bytes = new byte[count];
    try {
      read(position, bytes);
    } catch (EOFException e) {
      throw wrong(
          "ends before byte "
              + (position + count)
              + "; it was longer when training began, put it back");
    } catch (IOException e) {
      throw unreadable(file, e);
    }
    return bytes;
  }

  abstract void read(long position, byte[] into) throws IOException;

  @Override
  public abstract void close();

  private static final class OnDisk extends FileBytes {
    private final FileChannel channel;
    private final long size;

    OnDisk(Path file) throws IOException {
      super(file);
      channel = FileChannel.open(file);
      size = channel.size();
    }

    @Override
    long size() {
      return size;
    }

    @Override
    long held() {
      return 0;
    }

    @Override
    void read(long position, byte[] into) throws IOException {
      ByteBuffer buffer = ByteBuffer.wrap(into);
      while (buffer.hasRemaining()) {
        if (channel.read(buffer, position + buffer.position()) < 0) {
          throw new EOFException();
        }
      }
    }

    @Override
    public void close() {
      try {
        channel.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e); // nothing was written, so nothing is lost
      }
    }
  }

  private static final class InMemory extends FileBytes {
    private final byte[] bytes;

    InMemory(Path file, byte[] bytes) {
      super(file);
      this.bytes = bytes;
    }

    @Override
    long size() {
      return bytes.length;
    }

    @Override
    long held() {
      return bytes.length;
    }

    @Override
    void read(long position, byte[] into) {
      System.arraycopy(bytes, Math.toIntExact(position), into, 0, into.length);
    }

    @Override
    public void close() {
      // the memory is the collector's
    }
  }
}
