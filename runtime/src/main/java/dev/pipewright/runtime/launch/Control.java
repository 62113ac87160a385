package dev.pipewright.runtime.launch;

import dev.pipewright.runtime.wire.Connection;
import dev.pipewright.runtime.wire.Credentials;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Consumer;
import jdk.net.ExtendedSocketOptions;

/** A control connection: one {@link Message} per line. Its end is the end of the other process. */
final class Control implements AutoCloseable {
  private static final Duration CONNECT_PATIENCE = Duration.ofSeconds(10);
  private static final int KEEP_ALIVE_SECONDS = 5;
  private static final int KEEP_ALIVE_PROBES = 3;
  private static final int READ_BYTES = 1 << 13;
  private static final int LONGEST_LINE = 1 << 26; // bytes: a job with its plan and network

  private final Connection connection;
  private final ByteBuffer in = ByteBuffer.allocate(READ_BYTES).limit(0);

  Control(Connection connection) {
    this.connection = connection;
    try {
      noticeDeadHosts(connection.channel().socket());
    } catch (IOException e) {
      close(); // which its reader notices
    }
  }

  /** A host without power sends no end of the connection; the kernel asks for it now and then. */
  private static void noticeDeadHosts(Socket socket) throws IOException {
    socket.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
    if (socket.supportedOptions().contains(ExtendedSocketOptions.TCP_KEEPIDLE)) {
      socket.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, KEEP_ALIVE_SECONDS);
      socket.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, KEEP_ALIVE_SECONDS);
      socket.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, KEEP_ALIVE_PROBES);
    }
  }

  /**
   * Connects to a coordinator.
   *
   * @throws dev.pipewright.runtime.wire.WrongSecretException when its token is another one
   * @throws dev.pipewright.runtime.wire.WrongCertificateException when one end does not accept the
   *     other's certificate
   */
  static Control connect(String host, int port, Credentials credentials) throws IOException {
    InetSocketAddress address = new InetSocketAddress(host, port);
    if (address.isUnresolved()) {
      throw new IOException("no such host: " + host);
    }
    return new Control(Connection.to(address, credentials, 0, CONNECT_PATIENCE));
  }

  /** The address of this machine that the other one uses. */
  String hereAddress() {
    return connection.channel().socket().getLocalAddress().getHostAddress();
  }

  /** The address of the other machine. */
  String thereAddress() {
    return connection.channel().socket().getInetAddress().getHostAddress();
  }

  /** Sends a message; quietly none where the connection has ended, which its reader notices. */
  synchronized void send(Message message) {
    ByteBuffer line = ByteBuffer.wrap((message.line() + "\n").getBytes(StandardCharsets.UTF_8));
    try {
      boolean written = false;
      while (!written) {
        written = connection.write(line);
      }
    } catch (IOException e) {
      close();
    }
  }

  /** The next message. Any exception means that there will be none. */
  Message next() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (byte b = read(); b != '\n'; b = read()) {
      if (line.size() >= LONGEST_LINE) {
        throw new ProtocolException("it has no end after " + LONGEST_LINE + " bytes");
      }
      line.write(b);
    }
    return Message.parse(line.toString(StandardCharsets.UTF_8));
  }

  private byte read() throws IOException {
    if (!in.hasRemaining()) {
      connection.read(in.clear());
      in.flip();
    }
    return in.get();
  }

  /** Passes all messages to come on in a thread of its own, then says that there will be none. */
  void listen(String name, Consumer<Message> messages, Consumer<IOException> end) {
    Thread thread =
        new Thread(
            () -> {
              try {
                while (true) {
                  messages.accept(next());
                }
              } catch (IOException e) {
                close();
                end.accept(e);
              } catch (RuntimeException e) { // no message that its receiver understands
                close();
                end.accept(new IOException(e));
              }
            },
            name);
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() {
    try {
      connection.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
