package dev.pipewright.runtime.wire;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
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
  private final @Nullable Sealing sealing;

  private Connection(SocketChannel channel, int peer, @Nullable Sealing sealing)
      throws IOException {
    this.channel = channel;
    this.peer = peer;
    this.sealing = sealing;
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
  }

  /** The door's end of it. */
  static Connection ofDoor(SocketChannel channel, Handshake handshake) throws IOException {
    return new Connection(
        channel,
        handshake.number(),
        handshake.sealed() ? Sealing.of(handshake.keys(true), true) : null);
  }

  private static Connection ofGuest(SocketChannel channel, Handshake handshake) throws IOException {
    return new Connection(
        channel,
        handshake.number(),
        handshake.sealed() ? Sealing.of(handshake.keys(false), false) : null);
  }

  /**
   * Connects to a door. Tries again where it is turned away without an answer, as may happen while
   * strangers crowd the door.
   *
   * @param number by which the door knows who comes
   * @param patience until the door has answered
   * @throws WrongSecretException when the door knows another secret
   */
  public static Connection to(InetSocketAddress door, Secret secret, int number, Duration patience)
      throws IOException {
    long begin = System.nanoTime();
    while (true) {
      SocketChannel channel = SocketChannel.open();
      try {
        int left = (int) Math.max(1, patience.toMillis() - (System.nanoTime() - begin) / 1_000_000);
        channel.socket().connect(door, left);
        return greeted(channel, secret, number, left);
      } catch (WrongSecretException | SocketTimeoutException e) {
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

  private static Connection greeted(
      SocketChannel channel, Secret secret, int number, int milliseconds) throws IOException {
    Socket socket = channel.socket();
    socket.setSoTimeout(milliseconds);
    byte[] offer = read(socket, Handshake.OFFER_BYTES);
    Handshake handshake = Handshake.ofGuest(secret, offer, number);
    writeAll(channel, ByteBuffer.wrap(handshake.answer()));
    if (!handshake.isProof(read(socket, Handshake.PROOF_BYTES))) {
      throw new WrongSecretException();
    }
    socket.setSoTimeout(0);
    return ofGuest(channel, handshake);
  }

  private static byte[] read(Socket socket, int count) throws IOException {
    InputStream in = socket.getInputStream();
    byte[] bytes = in.readNBytes(count);
    if (bytes.length < count) {
      throw new EOFException("the other end has hung up");
    }
    return bytes;
  }

  private static void writeAll(SocketChannel channel, ByteBuffer... buffers) throws IOException {
    while (buffers[buffers.length - 1].hasRemaining()) {
      channel.write(buffers);
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
    if (sealing != null) {
      return sealing.write(channel, buffers);
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
    if (sealing != null) {
      sealing.read(channel, buffer);
    } else if (channel.read(buffer) < 0) {
      throw new EOFException("the connection has ended");
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
