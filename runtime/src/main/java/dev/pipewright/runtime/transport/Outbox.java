package dev.pipewright.runtime.transport;

import dev.pipewright.runtime.wire.Connection;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Messages to one other worker. Whoever sends one writes as much of it as the connection takes at
 * once, and a thread writes the rest.
 */
final class Outbox implements AutoCloseable {
  private final Connection connection; // which never blocks
  private final int to;
  private final Waiting waiting;
  private final Deque<Sending> unsent = new ArrayDeque<>(); // guarded by this, as what follows
  private @Nullable Thread writer; // from when there was something to do for it
  private @Nullable IOException failure;

  private record Sending(ByteBuffer[] buffers, Delivery delivery) {}

  Outbox(Connection connection, int to, Waiting waiting) throws IOException {
    this.waiting = waiting;
    this.connection = connection;
    this.to = to;
    connection.channel().configureBlocking(false);
  }

  synchronized Delivery send(MessageName name, TensorMemory memory) {
    Delivery delivery = new Delivery(memory, "sending to worker " + to, to, waiting);
    ByteBuffer[] buffers = new ByteBuffer[memory.pieces().length + 1];
    buffers[0] = name.header(memory.bytes());
    System.arraycopy(memory.pieces(), 0, buffers, 1, memory.pieces().length);
    unsent.add(new Sending(buffers, delivery));
    if (unsent.size() == 1) {
      write();
    }
    if (!unsent.isEmpty()) {
      leaveTheRest();
    }
    return delivery;
  }

  private void leaveTheRest() {
    if (writer == null) {
      writer = new Thread(this::writeRest, "messages to worker " + to);
      writer.setDaemon(true);
      writer.start();
    }
    notifyAll();
  }

  /** Writes as much as the connection takes now. */
  private synchronized void write() {
    try {
      if (failure != null) {
        throw failure;
      }
      while (!unsent.isEmpty()) {
        Sending first = unsent.element();
        if (!connection.write(first.buffers())) {
          return;
        }
        unsent.remove().delivery().end();
      }
    } catch (IOException e) {
      fail(e);
    }
  }

  private synchronized void fail(IOException cause) {
    failure = cause;
    unsent.forEach(sending -> sending.delivery().fail(cause));
    unsent.clear();
  }

  private void writeRest() {
    try (Selector selector = Selector.open()) {
      connection.channel().register(selector, SelectionKey.OP_WRITE);
      while (awaitSomething()) {
        selector.select();
        selector.selectedKeys().clear();
        write();
      }
    } catch (IOException e) {
      fail(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // which no thread does
    }
  }

  private synchronized boolean awaitSomething() throws InterruptedException {
    while (unsent.isEmpty() && connection.channel().isOpen()) {
      wait();
    }
    return connection.channel().isOpen();
  }

  @Override
  public synchronized void close() throws IOException {
    connection.close();
    write(); // which tells those that wait
    notifyAll();
  }
}
