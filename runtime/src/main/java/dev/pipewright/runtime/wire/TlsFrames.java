package dev.pipewright.runtime.wire;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.security.MessageDigest;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;

/**
 * The records of TLS 1.3 (E. Rescorla, RFC 8446, 2018), of one end of a connection.
 *
 * <p>What the guest sends in the handshake, its key share first, is the same at both ends only
 * where no one is in between; its digest goes into the proofs of the run's secret, so that a
 * certificate without the secret reads and changes nothing.
 */
final class TlsFrames implements Frames {
  private static final int RECORDS = 4; // that are written and read together
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  private final SSLEngine engine;
  private final int record; // bytes of one, at most
  private final ByteBuffer out; // under way
  private final ByteBuffer in; // as it came
  private final ByteBuffer opened;
  private boolean greeting = true; // whether reads have the time limit of the socket

  TlsFrames(SSLEngine engine) {
    this.engine = engine;
    this.record = engine.getSession().getPacketBufferSize();
    this.out = ByteBuffer.allocateDirect(RECORDS * record).limit(0);
    this.in = ByteBuffer.allocateDirect(RECORDS * record).limit(0);
    this.opened =
        ByteBuffer.allocateDirect(engine.getSession().getApplicationBufferSize()).limit(0);
  }

  /**
   * Does the handshake.
   *
   * @return a digest of what the guest has sent in it
   */
  byte[] connect(SocketChannel channel) throws IOException {
    MessageDigest said = Secret.digest();
    try {
      engine.beginHandshake();
      HandshakeStatus status = engine.getHandshakeStatus();
      while (status != HandshakeStatus.FINISHED && status != HandshakeStatus.NOT_HANDSHAKING) {
        status =
            switch (status) {
              case NEED_TASK -> task();
              case NEED_WRAP -> say(channel, said);
              default -> hear(channel, said);
            };
      }
    } catch (SSLException e) {
      sayWhy(channel);
      throw Tls.refusal(e);
    }
    return said.digest();
  }

  private HandshakeStatus task() {
    Runnable task = engine.getDelegatedTask();
    if (task != null) {
      task.run();
    }
    return engine.getHandshakeStatus();
  }

  private HandshakeStatus say(SocketChannel channel, MessageDigest said) throws IOException {
    SSLEngineResult result = engine.wrap(NOTHING, out.clear());
    out.flip();
    if (engine.getUseClientMode()) {
      said.update(out.duplicate());
    }
    while (out.hasRemaining()) {
      channel.write(out);
    }
    return result.getHandshakeStatus();
  }

  private HandshakeStatus hear(SocketChannel channel, MessageDigest said) throws IOException {
    if (!in.hasRemaining()) {
      receive(channel);
    }
    Tls.requireTls(in.get(in.position()));
    ByteBuffer heard = ByteBuffer.allocate(in.remaining()).put(in.duplicate()).flip();
    SSLEngineResult result = engine.unwrap(in, NOTHING); // which decrypts in place
    if (!engine.getUseClientMode()) {
      said.update(heard.limit(result.bytesConsumed()));
    }
    if (result.getStatus() == Status.BUFFER_UNDERFLOW) {
      receive(channel);
    } else if (result.getStatus() == Status.CLOSED) {
      throw new EOFException("the other end has hung up");
    }
    return result.getHandshakeStatus();
  }

  /** The alert that tells the other end. */
  private void sayWhy(SocketChannel channel) {
    try {
      while (engine.wrap(NOTHING, out.clear()).bytesProduced() > 0) {
        channel.write(out.flip());
      }
    } catch (IOException e) {
      // then it does not learn why
    }
  }

  /** From here on, reads wait as long as the channel does. */
  void greeted() {
    greeting = false;
  }

  @Override
  public boolean write(SocketChannel channel, ByteBuffer... buffers) throws IOException {
    while (true) {
      channel.write(out);
      if (out.hasRemaining()) {
        return false;
      }
      if (isEmpty(buffers)) {
        return true;
      }
      out.clear();
      while (!isEmpty(buffers) && out.remaining() >= record) {
        if (engine.wrap(buffers, out).getStatus() != Status.OK) {
          throw new EOFException("the connection has ended");
        }
      }
      out.flip();
    }
  }

  private static boolean isEmpty(ByteBuffer[] buffers) {
    for (ByteBuffer buffer : buffers) {
      if (buffer.hasRemaining()) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void read(SocketChannel channel, ByteBuffer into) throws IOException {
    try {
      int before = into.position();
      while (!opened.hasRemaining() && into.position() == before) {
        open(channel, into);
      }
      Frames.move(opened, into);
    } catch (SSLException e) {
      throw greeting ? Tls.refusal(e) : new WrongFrameException(e);
    }
  }

  /** Reads a record: into the buffer where that has room for any, otherwise aside. */
  private void open(SocketChannel channel, ByteBuffer into) throws IOException {
    Status status = engine.unwrap(in, into).getStatus();
    if (status == Status.BUFFER_OVERFLOW) {
      status = engine.unwrap(in, opened.clear()).getStatus();
      opened.flip();
    }
    if (status == Status.BUFFER_UNDERFLOW) {
      receive(channel);
    } else if (status == Status.CLOSED) {
      throw new EOFException("the connection has ended");
    }
  }

  private void receive(SocketChannel channel) throws IOException {
    in.compact();
    try {
      int count = greeting ? patiently(channel) : channel.read(in);
      if (count < 0) {
        throw new EOFException("the connection has ended");
      }
    } finally {
      in.flip();
    }
  }

  private int patiently(SocketChannel channel) throws IOException {
    InputStream stream = channel.socket().getInputStream();
    byte[] bytes = new byte[in.remaining()];
    int count = stream.read(bytes);
    in.put(bytes, 0, Math.max(0, count));
    return count;
  }
}
