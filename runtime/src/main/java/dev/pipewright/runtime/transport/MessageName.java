package dev.pipewright.runtime.transport;

import java.nio.ByteBuffer;

/**
 * What tells messages between the same two workers apart.
 *
 * @param channel of whose messages it is one: a group's, or those of no group
 */
record MessageName(int channel, int tag) {
  /** Of what comes before each message: its name and the number of its bytes. */
  static final int HEADER_BYTES = 2 * Integer.BYTES + Long.BYTES;

  ByteBuffer header(long bytes) {
    return ByteBuffer.allocate(HEADER_BYTES).putInt(channel).putInt(tag).putLong(bytes).flip();
  }

  /** Leaves the number of bytes to be read. */
  static MessageName of(ByteBuffer header) {
    return new MessageName(header.getInt(), header.getInt());
  }
}
