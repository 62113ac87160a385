package dev.pipewright.runtime.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** What is encrypted and authenticated of a connection, in both directions. */
interface Frames {
  /** Writes as {@link Connection#write} does. */
  boolean write(SocketChannel channel, ByteBuffer... buffers) throws IOException;

  /** Reads some bytes, from a channel that blocks. */
  void read(SocketChannel channel, ByteBuffer into) throws IOException;

  /** Copies as much as both have room for. */
  static void move(ByteBuffer from, ByteBuffer to) {
    int count = Math.min(from.remaining(), to.remaining());
    to.put(to.position(), from, from.position(), count);
    to.position(to.position() + count);
    from.position(from.position() + count);
  }
}
