package dev.pipewright.runtime.transport;

import java.nio.ByteBuffer;
import org.bytedeco.javacpp.Pointer;

/**
 * The bytes of a message that came before anybody asked for it. They are freed as soon as they are
 * handed over: left to the garbage collector, those of a step piled up to hundreds of MiB.
 */
final class EarlyMessage implements AutoCloseable {
  private final Pointer memory;
  private final ByteBuffer[] pieces;
  private final long bytes;

  EarlyMessage(long bytes) {
    this.memory = Pointer.malloc(Math.max(1, bytes));
    if (memory.isNull()) {
      throw new IllegalStateException("no memory for a message of " + bytes + " bytes");
    }
    this.pieces = TensorMemory.pieces(memory, bytes);
    this.bytes = bytes;
  }

  /** Buffers to be filled. */
  ByteBuffer[] pieces() {
    return pieces;
  }

  long bytes() {
    return bytes;
  }

  /** Copies what is filled; the other has as many bytes. */
  void copyTo(TensorMemory other) {
    for (int i = 0; i < pieces.length; i++) {
      other.pieces()[i].put(pieces[i].flip());
    }
  }

  @Override
  public void close() {
    Pointer.free(memory);
  }
}
