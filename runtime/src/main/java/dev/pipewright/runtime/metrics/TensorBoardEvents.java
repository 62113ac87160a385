package dev.pipewright.runtime.metrics;

import dev.pipewright.formats.file.OutputFile;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;

/**
 * A file of events that TensorBoard shows.
 *
 * <p>Source: TensorFlow's {@code record_writer.h} for the frame of a record (its length as 64 bits,
 * a checksum of that, the bytes, a checksum of them, lowest byte first) and {@code event.proto} and
 * {@code summary.proto} for what is in it. A checksum is CRC-32C, turned by 15 bits and with a
 * constant added, so that checksums of what holds checksums differ.
 */
public final class TensorBoardEvents implements MetricSink {
  private static final String FORMAT = "brain.Event:2";
  private static final int MASK = 0xa282ead8;
  private static final int TURN = 15;

  private final Path file;
  private final OutputStream out;

  /**
   * Begins a file of its own in a folder: TensorBoard shows all files of a folder as one run.
   *
   * @param unixSeconds now; it makes the file's name unique
   */
  public TensorBoardEvents(Path folder, double unixSeconds) {
    try {
      OutputFile.folder(folder);
      this.file = fresh(folder, (long) unixSeconds);
      this.out =
          new BufferedOutputStream(Files.newOutputStream(file, StandardOpenOption.CREATE_NEW));
      write(new ProtocolBuffer().number(1, unixSeconds).text(3, FORMAT));
    } catch (IOException e) {
      throw OutputFile.failed(folder, "no file can be written there", e);
    }
  }

  private static Path fresh(Path folder, long unixSeconds) {
    int count = 0;
    Path path;
    do {
      path = folder.resolve("events.out.tfevents.%010d.%d".formatted(unixSeconds, count++));
    } while (Files.exists(path, LinkOption.NOFOLLOW_LINKS));
    return path;
  }

  /** The file that it writes. */
  public Path file() {
    return file;
  }

  @Override
  public void record(StepMetrics metrics) {
    ProtocolBuffer summary = new ProtocolBuffer();
    metrics
        .values()
        .forEach((name, value) ->
            summary.message(1, new ProtocolBuffer().text(1, name).single(2, value.floatValue())));
    try {
      write(
          new ProtocolBuffer()
              .number(1, metrics.unixSeconds())
              .whole(2, metrics.step())
              .message(5, summary));
    } catch (IOException e) {
      throw OutputFile.failed(file, "cannot be written", e);
    }
  }

  private void write(ProtocolBuffer event) throws IOException {
    byte[] bytes = event.bytes();
    byte[] length = little(Long.BYTES).putLong(bytes.length).array();
    out.write(length);
    out.write(little(Integer.BYTES).putInt(checksum(length)).array());
    out.write(bytes);
    out.write(little(Integer.BYTES).putInt(checksum(bytes)).array());
    out.flush();
  }

  private static ByteBuffer little(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static int checksum(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return Integer.rotateRight((int) crc.getValue(), TURN) + MASK;
  }

  @Override
  public void close() {
    try {
      out.close();
    } catch (IOException e) {
      throw OutputFile.failed(file, "cannot be written", e);
    }
  }

  /**
   * A message as protocol buffers write it: for each field its number and kind, then its value (<a
   * href="https://protobuf.dev/programming-guides/encoding/">encoding</a>). Five kinds of field are
   * all that is needed, so there is no library.
   */
  private static final class ProtocolBuffer {
    private static final int VARIABLE = 0;
    private static final int EIGHT_BYTES = 1;
    private static final int WITH_LENGTH = 2;
    private static final int FOUR_BYTES = 5;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    byte[] bytes() {
      return out.toByteArray();
    }

    ProtocolBuffer number(int field, double value) {
      variable((long) field << 3 | EIGHT_BYTES);
      out.writeBytes(little(Double.BYTES).putDouble(value).array());
      return this;
    }

    ProtocolBuffer single(int field, float value) {
      variable((long) field << 3 | FOUR_BYTES);
      out.writeBytes(little(Float.BYTES).putFloat(value).array());
      return this;
    }

    ProtocolBuffer whole(int field, long value) {
      variable((long) field << 3 | VARIABLE);
      variable(value);
      return this;
    }

    ProtocolBuffer text(int field, String value) {
      return sized(field, value.getBytes(StandardCharsets.UTF_8));
    }

    ProtocolBuffer message(int field, ProtocolBuffer value) {
      return sized(field, value.bytes());
    }

    private ProtocolBuffer sized(int field, byte[] value) {
      variable((long) field << 3 | WITH_LENGTH);
      variable(value.length);
      out.writeBytes(value);
      return this;
    }

    /** Seven bits a byte, the lowest first; the eighth says that more follow. */
    private void variable(long value) {
      long left = value;
      while ((left & ~0x7fL) != 0) {
        out.write((int) ((left & 0x7f) | 0x80));
        left >>>= 7;
      }
      out.write((int) left);
    }
  }
}
