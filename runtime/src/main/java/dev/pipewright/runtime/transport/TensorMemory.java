package dev.pipewright.runtime.transport;

import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.units.Check;
import java.nio.ByteBuffer;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.pytorch.global.torch.MemoryFormat;

/** The bytes of a packed tensor as they lie in memory, which stays until it is closed. */
final class TensorMemory implements AutoCloseable {
  private static final long MOST = 1 << 30; // bytes of a piece, whose length is an int

  private final Tensor tensor;
  private final ByteBuffer[] pieces;
  private final long bytes;

  /**
   * @param what becomes of it, for the sentence that says that it is not packed
   */
  TensorMemory(Tensor tensor, String what) {
    checkPacked(tensor, what);
    this.tensor = tensor.shared(); // its maker may end its scope before
    this.bytes = tensor.bytes();
    this.pieces = pieces(this.tensor.handle().data_ptr(), bytes);
  }

  static void checkPacked(Tensor tensor, String what) {
    Check.that(isPacked(tensor.handle()), "messages carry packed tensors: %s", what);
  }

  /**
   * All that a packed tensor holds, in the order in which it lies in its memory, which it shares.
   */
  static Tensor inOrder(Tensor tensor) {
    long[] shape = {tensor.elements()};
    return new Tensor(tensor.handle().as_strided(shape, 1));
  }

  static boolean isPacked(org.bytedeco.pytorch.Tensor tensor) {
    return tensor.is_contiguous() || tensor.is_contiguous(MemoryFormat.ChannelsLast);
  }

  /** The bytes of some memory, which stays its owner's. */
  static ByteBuffer[] pieces(Pointer memory, long bytes) {
    ByteBuffer[] pieces = new ByteBuffer[Math.toIntExact((bytes + MOST - 1) / MOST)];
    for (int i = 0; i < pieces.length; i++) {
      long first = i * MOST;
      try (BytePointer all = new BytePointer(memory)) {
        all.limit(Math.min(bytes, first + MOST)).position(first);
        pieces[i] = all.asByteBuffer();
      }
    }
    return pieces;
  }

  /** The bytes in order, each piece at the place up to which it has been read or filled. */
  ByteBuffer[] pieces() {
    return pieces;
  }

  long bytes() {
    return bytes;
  }

  @Override
  public void close() {
    tensor.close();
  }
}
