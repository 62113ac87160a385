package dev.pipewright.runtime.wire;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A connection whose ends have proved to each other that they know the same secret. One thread may
 * read while another writes.
 */
public final class Connection implements AutoCloseable {
  private static final int AGAIN_MILLISECONDS = 50;

  private final SocketChannel channel;
  private final int peer;
  private final @Nullable Frames frames;

  private Connection(SocketChannel channel, int peer, @Nullable Frames frames) throws IOException {
    this.channel = channel;
    this.peer = peer;
    this.frames = frames;
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
  }

  /**
   * One end of it.
   *
   * @param tls its records, where there are certificates; otherwise the handshake says whether
   *     frames are sealed
   */
  static Connection of(
      SocketChannel channel, Handshake handshake, @Nullable Frames tls, boolean atDoor)
      throws IOException {
    Frames frames =
        tls == null && handshake.sealed() ? Sealing.of(handshake.keys(atDoor), atDoor) : tls;
    return new Connection(channel, handshake.number(), frames);
  }

  /**
   * Connects to a door. Tries again where it is turned away without an answer, as may happen while
   * strangers crowd the door.
   *
   * @param number by which the door knows who comes
   * @param patience until the door has answered
   * @throws WrongSecretException when the door knows another secret
   * @throws WrongCertificateException when one end does not accept the other's certificate
   */
  public static Connection to(
      InetSocketAddress door, Credentials credentials, int number, Duration patience)
      throws IOException {
    long begin = System.nanoTime();
    while (true) {
      SocketChannel channel = SocketChannel.open();
      try {
        int left = (int) Math.max(1, patience.toMillis() - (System.nanoTime() - begin) / 1_000_000);
        channel.socket().connect(door, left);
        channel.socket().setSoTimeout(left);
        return Greeting.ofGuest(channel, credentials, number);
      } catch (WrongSecretException | WrongCertificateException | SocketTimeoutException e) {
        channel.close();
        throw e;
      } catch (IOException e) {
        boolean connected = channel.isConnected();
        channel.close();
        if (!connected || System.nanoTime() - begin > patience.toNanos()) {
          throw e;
        }
        pause();
      }
    }
  }

  private static void pause() {
    try {
      Thread.sleep(AGAIN_MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The number by which the guest has introduced itself. */
  public int peer() {
    return peer;
  }

  /** The channel, for addresses and options of the socket alone. */
  public SocketChannel channel() {
    return channel;
  }

  /**
   * Writes as much as the channel takes: all of it where it blocks.
   *
   * @param buffers a message; the same ones again while this returns false
   * @return whether all of it has been written
   */
  public boolean write(ByteBuffer... buffers) throws IOException {
    if (frames != null) {
      return frames.write(channel, buffers);
    }
    channel.write(buffers);
    return !buffers[buffers.length - 1].hasRemaining();
  }

  /**
   * Fills the buffers from a channel that blocks.
   *
   * @throws EOFException when the other end has hung up
   * @throws WrongFrameException when what came is not what the other end has sent
   */
  public void fill(ByteBuffer... buffers) throws IOException {
    for (ByteBuffer buffer : buffers) {
      while (buffer.hasRemaining()) {
        read(buffer);
      }
    }
  }

  /** Reads some bytes, from a channel that blocks. */
  public void read(ByteBuffer buffer) throws IOException {
    if (frames != null) {
      frames.read(channel, buffer);
    } else if (channel.read(buffer) < 0) {
      throw new EOFException("the connection has ended");
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
