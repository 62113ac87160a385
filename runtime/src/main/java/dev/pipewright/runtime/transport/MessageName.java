package dev.pipewright.runtime.transport;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * The name of a message, unique between the same two workers.
 *
 * @param channel of whose messages it is one: a group's, or those of no group
 */
record MessageName(long channel, int tag) {
  /** The channel of messages of no group. */
  static final long NO_GROUP = 0;

  /** Size of the header of each message: its name and the number of its bytes. */
  static final int HEADER_BYTES = Long.BYTES + Integer.BYTES + Long.BYTES;

  /** The channel of a group: the same for all members, who need not ask each other for it. */
  static long channel(String group) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(group.getBytes(StandardCharsets.UTF_8));
      return ByteBuffer.wrap(digest).getLong();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  ByteBuffer header(long bytes) {
    return ByteBuffer.allocate(HEADER_BYTES).putLong(channel).putInt(tag).putLong(bytes).flip();
  }

  /** Leaves the number of bytes to be read. */
  static MessageName of(ByteBuffer header) {
    return new MessageName(header.getLong(), header.getInt());
  }
}
