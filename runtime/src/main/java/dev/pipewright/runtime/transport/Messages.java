package dev.pipewright.runtime.transport;

import dev.pipewright.runtime.tensor.Tensor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;

/**
 * Tensors from worker to worker over TCP. Between two workers are two connections, one for each
 * direction, and a message is written as it lies in memory, behind its name.
 *
 * <p>Gloo's messages, by comparison, ask the receiver before they are written, and whoever sends
 * and the thread that reads share a lock, so that a message between workers that compute took up to
 * milliseconds of both.
 */
final class Messages implements AutoCloseable {
  private static final int SECRET_BYTES = 16;
  private static final int GREETING_BYTES = SECRET_BYTES + Integer.BYTES;
  private static final int GREETING_MILLISECONDS = 10_000;

  private final Map<Integer, Outbox> outboxes = new HashMap<>(); // by worker
  private final Map<Integer, Inbox> inboxes = new HashMap<>();

  private Messages() {}

  /** Of this worker, once it is connected to all others. */
  static Messages connected(AddressBook book, String host, int worker, int workers) {
    Messages messages = new Messages();
    try (ServerSocketChannel door = ServerSocketChannel.open()) {
      door.bind(new InetSocketAddress(host, 0), workers);
      byte[] secret = new byte[SECRET_BYTES];
      new SecureRandom().nextBytes(secret);
      int port = ((InetSocketAddress) door.getLocalAddress()).getPort();
      book.tell(page(worker), HexFormat.of().formatHex(secret) + " " + port + " " + host);
      for (int other = 0; other < workers; other++) {
        if (other != worker) {
          messages.outboxes.put(other, new Outbox(to(book.ask(page(other)), worker), other));
        }
      }
      while (messages.inboxes.size() < workers - 1) {
        messages.welcome(door.accept(), secret);
      }
      return messages;
    } catch (IOException e) {
      messages.close();
      throw new LostPeerException("not all workers could be reached", e);
    }
  }

  private static String page(int worker) {
    return "messages/" + worker;
  }

  private static SocketChannel to(String address, int worker) throws IOException {
    String[] words = address.split(" ", 3);
    SocketChannel connection =
        SocketChannel.open(new InetSocketAddress(words[2], Integer.parseInt(words[1])));
    connection.setOption(StandardSocketOptions.TCP_NODELAY, true);
    ByteBuffer greeting = ByteBuffer.allocate(GREETING_BYTES);
    greeting.put(HexFormat.of().parseHex(words[0])).putInt(worker).flip();
    while (greeting.hasRemaining()) {
      connection.write(greeting);
    }
    return connection;
  }

  /** Whoever does not know the secret is none of the workers. */
  private void welcome(SocketChannel connection, byte[] secret) throws IOException {
    connection.socket().setSoTimeout(GREETING_MILLISECONDS);
    try {
      byte[] greeting = connection.socket().getInputStream().readNBytes(GREETING_BYTES);
      if (greeting.length == GREETING_BYTES
          && Arrays.equals(greeting, 0, SECRET_BYTES, secret, 0, SECRET_BYTES)) {
        int from = ByteBuffer.wrap(greeting).getInt(SECRET_BYTES);
        inboxes.put(from, new Inbox(connection, from));
        return;
      }
    } catch (SocketTimeoutException e) {
      // it has nothing to say
    }
    connection.close();
  }

  Pending send(MessageName name, Tensor tensor, int to) {
    return of(outboxes, to).send(name, new TensorMemory(tensor, "sending to worker " + to));
  }

  Pending receive(MessageName name, Tensor into, int from) {
    return of(inboxes, from).receive(name, new TensorMemory(into, "receiving from worker " + from));
  }

  private static <T> T of(Map<Integer, T> boxes, int worker) {
    T box = boxes.get(worker);
    if (box == null) {
      throw new IllegalArgumentException("no such worker: worker=" + worker);
    }
    return box;
  }

  @Override
  public void close() {
    outboxes.values().forEach(Messages::close);
    inboxes.values().forEach(Messages::close);
  }

  private static void close(AutoCloseable box) {
    try {
      box.close();
    } catch (Exception e) {
      throw new IllegalStateException("a connection cannot be closed", e);
    }
  }
}
