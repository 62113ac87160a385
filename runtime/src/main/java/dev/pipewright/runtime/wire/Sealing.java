package dev.pipewright.runtime.wire;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** The frames of both directions of a connection, each made and opened whole. */
final class Sealing implements Frames {
  private final Seal own;
  private final Seal others;
  private final ByteBuffer text = ByteBuffer.allocateDirect(Seal.TEXT_BYTES); // to be sent
  private final ByteBuffer frame = frame().limit(0); // under way
  private final ByteBuffer length = ByteBuffer.allocate(Seal.LENGTH_BYTES);
  private final ByteBuffer sealed = frame(); // that comes
  private final ByteBuffer opened = ByteBuffer.allocateDirect(Seal.TEXT_BYTES).limit(0);

  /**
   * @param own of what is sent
   * @param others of what comes
   */
  Sealing(Secret own, Secret others) {
    this.own = new Seal(own);
    this.others = new Seal(others);
  }

  /** The frames of one end of a connection. */
  static Sealing of(Handshake.Keys keys, boolean atDoor) {
    return atDoor ? new Sealing(keys.door(), keys.guest()) : new Sealing(keys.guest(), keys.door());
  }

  private static ByteBuffer frame() {
    return ByteBuffer.allocateDirect(Seal.LENGTH_BYTES + Seal.TEXT_BYTES + Seal.TAG_BYTES);
  }

  @Override
  public boolean write(SocketChannel channel, ByteBuffer... buffers) throws IOException {
    while (true) {
      channel.write(frame);
      if (frame.hasRemaining()) {
        return false;
      }
      text.clear();
      for (ByteBuffer buffer : buffers) {
        Frames.move(buffer, text);
      }
      if (text.position() == 0) {
        return true;
      }
      own.close(text.flip(), frame.clear());
      frame.flip();
    }
  }

  @Override
  public void read(SocketChannel channel, ByteBuffer into) throws IOException {
    if (!opened.hasRemaining()) {
      fill(channel, length.clear());
      int count = length.getInt(0);
      if (count <= 0 || count > Seal.TEXT_BYTES) {
        throw new WrongFrameException();
      }
      fill(channel, sealed.clear().limit(count + Seal.TAG_BYTES));
      others.open(count, sealed.flip(), opened.clear());
      opened.flip();
    }
    Frames.move(opened, into);
  }

  private static void fill(SocketChannel channel, ByteBuffer buffer) throws IOException {
    while (buffer.hasRemaining()) {
      if (channel.read(buffer) < 0) {
        throw new EOFException("the connection has ended");
      }
    }
  }
}
