package dev.pipewright.runtime.launch;

import dev.pipewright.formats.file.OutputFile;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * The last places that a worker was at, in a file mapped into its memory: what is written there
 * stays when the process is killed, and costs what a write to memory costs.
 *
 * <p>The file is a count of all places so far and a ring of the last ones. The count goes up after
 * its place is written, so a reader never sees half of one. One thread writes.
 */
public final class FlightRecorder {
  private static final int SLOTS = 64;
  private static final int SLOT_BYTES = 32;
  private static final int HEADER_BYTES = 32; // the count, alone
  private static final VarHandle COUNT =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private final MappedByteBuffer memory;
  private long count;

  private FlightRecorder(MappedByteBuffer memory) {
    this.memory = memory;
    memory.order(ByteOrder.nativeOrder());
  }

  /** Begins a file. */
  public static FlightRecorder create(Path file) {
    try (FileChannel channel =
        FileChannel.open(
            file,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE)) {
      return new FlightRecorder(
          channel.map(MapMode.READ_WRITE, 0, HEADER_BYTES + SLOTS * SLOT_BYTES));
    } catch (IOException e) {
      throw OutputFile.failed(file, "cannot be written", e);
    }
  }

  /** This worker begins an op. */
  public void at(long step, int position, char op, int stage, int microBatch) {
    int slot = HEADER_BYTES + (int) (count % SLOTS) * SLOT_BYTES;
    memory.putLong(slot, step);
    memory.putInt(slot + 8, position);
    memory.putInt(slot + 12, op);
    memory.putInt(slot + 16, stage);
    memory.putInt(slot + 20, microBatch);
    COUNT.setRelease(memory, 0, ++count);
  }

  /** How many places there have been; in any thread. */
  long places() {
    return (long) COUNT.getAcquire(memory, 0);
  }

  /** The last of them; in any thread. */
  Optional<Place> last() {
    return last(memory.duplicate().order(ByteOrder.nativeOrder()));
  }

  /** The worker's last recorded op; empty before its first. */
  public static Optional<Place> last(Path file) {
    ByteBuffer memory;
    try {
      memory = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.nativeOrder());
    } catch (IOException e) { // it died before it began
      return Optional.empty();
    }
    return last(memory);
  }

  private static Optional<Place> last(ByteBuffer memory) {
    if (memory.capacity() < HEADER_BYTES + SLOTS * SLOT_BYTES || memory.getLong(0) == 0) {
      return Optional.empty();
    }
    int slot = HEADER_BYTES + (int) ((memory.getLong(0) - 1) % SLOTS) * SLOT_BYTES;
    return Optional.of(
        new Place(
            memory.getLong(slot),
            memory.getInt(slot + 8),
            (char) memory.getInt(slot + 12),
            memory.getInt(slot + 16),
            memory.getInt(slot + 20)));
  }
}
