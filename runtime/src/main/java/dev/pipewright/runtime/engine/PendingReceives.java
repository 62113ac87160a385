package dev.pipewright.runtime.engine;

import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Pending;
import dev.pipewright.runtime.transport.Transport;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Messages that are requested; each is used once it has arrived. */
final class PendingReceives implements AutoCloseable {
  private final Transport transport;
  private final List<Arriving> arriving = new ArrayList<>();

  private record Arriving(Tensor tensor, Pending pending, Consumer<Tensor> use) {}

  PendingReceives(Transport transport) {
    this.transport = transport;
  }

  /**
   * Requests a message.
   *
   * @param tensor room for it, closed after its use
   */
  void receive(Tensor tensor, int from, int tag, Consumer<Tensor> use) {
    arriving.add(new Arriving(tensor, transport.receive(tensor, from, tag), use));
  }

  /** Waits for all messages and uses them. */
  void await() {
    for (Arriving each : arriving) {
      each.pending().await();
      each.use().accept(each.tensor());
      each.tensor().close();
    }
    arriving.clear();
  }

  void count(LiveBytes live) {
    arriving.forEach(each -> live.add(LiveBytes.Kind.MESSAGES, each.tensor()));
  }

  /** Frees what has not arrived. */
  @Override
  public void close() {
    arriving.forEach(each -> each.tensor().close());
    arriving.clear();
  }
}
