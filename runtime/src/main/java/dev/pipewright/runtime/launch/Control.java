package dev.pipewright.runtime.launch;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import jdk.net.ExtendedSocketOptions;

/** A control connection: one {@link Message} per line. Its end is the end of the other process. */
final class Control implements AutoCloseable {
  private static final int CONNECT_MILLISECONDS = 10_000;
  private static final int KEEP_ALIVE_SECONDS = 5;
  private static final int KEEP_ALIVE_PROBES = 3;

  private final Socket socket;
  private final InputStream in;
  private final OutputStream out;

  Control(Socket socket) throws IOException {
    this.socket = socket;
    socket.setTcpNoDelay(true);
    noticeDeadHosts(socket);
    in = new BufferedInputStream(socket.getInputStream());
    out = socket.getOutputStream();
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

  static Control connect(String host, int port) throws IOException {
    Socket socket = new Socket();
    try {
      socket.connect(new InetSocketAddress(host, port), CONNECT_MILLISECONDS);
      return new Control(socket);
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  /** The address of this machine that the other one uses. */
  String hereAddress() {
    return socket.getLocalAddress().getHostAddress();
  }

  /** The address of the other machine. */
  String thereAddress() {
    return socket.getInetAddress().getHostAddress();
  }

  /** Sends a message; quietly none where the connection has ended, which its reader notices. */
  synchronized void send(Message message) {
    try {
      out.write((message.line() + "\n").getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      close();
    }
  }

  /** The first message, which must come soon and be short: it may be from anybody. */
  Message first(int milliseconds, int bytes) throws IOException {
    socket.setSoTimeout(milliseconds);
    String line = line(bytes);
    socket.setSoTimeout(0);
    return Message.parse(line);
  }

  /** The next message. Any exception means that there will be none. */
  Message next() throws IOException {
    return Message.parse(line(Integer.MAX_VALUE));
  }

  private String line(int limit) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int b = in.read(); b != '\n'; b = in.read()) {
      if (b < 0 || line.size() >= limit) {
        throw new IOException("the connection has ended");
      }
      line.write(b);
    }
    return line.toString(StandardCharsets.UTF_8);
  }

  /** Hands on all messages to come in a thread of its own, then says that there will be none. */
  void listen(String name, Consumer<Message> messages, Runnable end) {
    Thread thread =
        new Thread(
            () -> {
              try {
                while (true) {
                  messages.accept(next());
                }
              } catch (IOException e) {
                close();
                end.run();
              }
            },
            name);
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
