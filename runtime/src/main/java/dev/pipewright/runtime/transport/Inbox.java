package dev.pipewright.runtime.transport;

import dev.pipewright.runtime.wire.Connection;
import dev.pipewright.runtime.wire.WrongFrameException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Messages from one other worker. A thread reads them straight into the tensors that wait for them.
 * Unrequested messages stay in the connection; only where the worker has requested another message,
 * which may come after it, is one set aside.
 */
final class Inbox implements AutoCloseable {
  private final Connection connection;
  private final int worker;
  private final int from;
  private final Waiting waiting;
  private final Map<MessageName, Deque<Delivery>> asked = new HashMap<>(); // guarded by this
  private final Map<MessageName, Deque<EarlyMessage>> aside = new HashMap<>(); // likewise
  private @Nullable Thread reader; // from the first request on
  private @Nullable Exception failure;

  /**
   * @param worker this one
   */
  Inbox(Connection connection, int worker, int from, Waiting waiting) {
    this.waiting = waiting;
    this.connection = connection;
    this.worker = worker;
    this.from = from;
  }

  synchronized Delivery receive(MessageName name, TensorMemory memory) {
    Delivery delivery = new Delivery(memory, "receiving from worker " + from, from, waiting);
    EarlyMessage early = first(aside, name);
    if (early != null) {
      arrive(delivery, early);
    } else if (failure != null) {
      delivery.fail(failure);
    } else {
      asked.computeIfAbsent(name, key -> new ArrayDeque<>()).add(delivery);
      read();
    }
    return delivery;
  }

  private void read() {
    if (reader == null) {
      reader = new Thread(this::readAll, "messages from worker " + from);
      reader.setDaemon(true);
      reader.start();
    }
    notifyAll();
  }

  private static <T> @Nullable T first(Map<MessageName, Deque<T>> of, MessageName name) {
    Deque<T> all = of.get(name);
    if (all == null) {
      return null;
    }
    T first = all.remove();
    if (all.isEmpty()) {
      of.remove(name);
    }
    return first;
  }

  private void readAll() {
    ByteBuffer header = ByteBuffer.allocate(MessageName.HEADER_BYTES);
    try {
      while (true) {
        connection.fill(header.clear());
        MessageName name = MessageName.of(header.flip());
        long bytes = header.getLong();
        Delivery delivery = awaitRequest(name);
        if (delivery == null) {
          set(name, readEarly(bytes));
        } else {
          check(delivery, bytes);
          read(delivery);
        }
      }
    } catch (IOException | InterruptedException | RuntimeException e) {
      fail(explained(e));
    }
  }

  private void read(Delivery delivery) throws IOException {
    try {
      connection.fill(delivery.memory().pieces());
    } catch (IOException e) {
      delivery.fail(explained(e)); // which is asked for no more, so that none else tells it
      throw e;
    }
    delivery.end();
  }

  private Exception explained(Exception e) {
    return e instanceof WrongFrameException ? new WrongMessageException(from, worker, e) : e;
  }

  /** The request for this message; none once another message has been requested. */
  private synchronized @Nullable Delivery awaitRequest(MessageName name)
      throws InterruptedException {
    while (asked.isEmpty()) {
      wait();
    }
    return first(asked, name);
  }

  private EarlyMessage readEarly(long bytes) throws IOException {
    EarlyMessage early = new EarlyMessage(bytes);
    try {
      connection.fill(early.pieces());
      return early;
    } catch (IOException e) {
      early.close();
      throw e;
    }
  }

  private synchronized void set(MessageName name, EarlyMessage early) {
    Delivery meanwhile = first(asked, name);
    if (meanwhile == null) {
      aside.computeIfAbsent(name, key -> new ArrayDeque<>()).add(early);
    } else {
      arrive(meanwhile, early);
    }
  }

  private void arrive(Delivery delivery, EarlyMessage early) {
    try (early) {
      check(delivery, early.bytes());
      early.copyTo(delivery.memory());
    }
    delivery.end();
  }

  private void check(Delivery delivery, long bytes) {
    long room = delivery.memory().bytes();
    if (bytes != room) {
      IllegalStateException mistake =
          new IllegalStateException(
              "worker %d sends %d bytes where %d are awaited".formatted(from, bytes, room));
      delivery.fail(mistake);
      throw mistake;
    }
  }

  private synchronized void fail(Exception cause) {
    failure = cause;
    asked.values().forEach(all -> all.forEach(delivery -> delivery.fail(cause)));
    asked.clear();
  }

  @Override
  public synchronized void close() throws IOException {
    connection.close();
    if (reader != null) {
      reader.interrupt();
    }
    aside.values().forEach(all -> all.forEach(EarlyMessage::close));
    aside.clear();
  }
}
