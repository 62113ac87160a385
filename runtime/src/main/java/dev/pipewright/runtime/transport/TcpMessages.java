package dev.pipewright.runtime.transport;

import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.wire.Connection;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Tensors from worker to worker over TCP. Between two workers are two connections, one for each
 * direction, and a message is written as it lies in memory, after its name.
 */
final class TcpMessages implements AutoCloseable {
  private static final Duration CONNECT_PATIENCE = Duration.ofSeconds(60);

  private final Map<Integer, Outbox> outboxes = new HashMap<>(); // by worker
  private final Map<Integer, Inbox> inboxes = new HashMap<>();
  private final Waiting waiting = new Waiting();

  private TcpMessages() {}

  /**
   * The messages of this worker, once it is connected to all others.
   *
   * @param addresses of the entrances of all workers
   */
  static TcpMessages connected(Entrance entrance, List<String> addresses, int worker) {
    TcpMessages messages = new TcpMessages();
    try {
      for (int other = 0; other < addresses.size(); other++) {
        if (other != worker) {
          Connection connection =
              Connection.to(
                  Entrance.parse(addresses.get(other)),
                  entrance.credentials(),
                  worker,
                  CONNECT_PATIENCE);
          messages.outboxes.put(other, new Outbox(connection, other, messages.waiting));
        }
      }
      for (int other = 0; other < addresses.size(); other++) {
        if (other != worker) {
          messages.inboxes.put(
              other, new Inbox(entrance.from(other), worker, other, messages.waiting));
        }
      }
      return messages;
    } catch (IOException e) {
      messages.close();
      throw new LostPeerException("not all workers could be reached", e);
    }
  }

  Delivery send(MessageName name, Tensor tensor, int to) {
    return of(outboxes, to).send(name, new TensorMemory(tensor, "sending to worker " + to));
  }

  Delivery receive(MessageName name, Tensor into, int from) {
    return of(inboxes, from).receive(name, new TensorMemory(into, "receiving from worker " + from));
  }

  /** The worker that the thread which connected this worker is waiting for. */
  Waiting waiting() {
    return waiting;
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
    outboxes.values().forEach(TcpMessages::close);
    inboxes.values().forEach(TcpMessages::close);
  }

  private static void close(AutoCloseable box) {
    try {
      box.close();
    } catch (Exception e) {
      throw new IllegalStateException("a connection cannot be closed", e);
    }
  }
}
