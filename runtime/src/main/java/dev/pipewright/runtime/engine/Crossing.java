package dev.pipewright.runtime.engine;

import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.SampleRange;
import dev.pipewright.runtime.net.Part;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Transport;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How activations and gradients cross the cuts between stages. The workers of two stages may be
 * different in number: a worker sends to each worker of the other stage the samples that both
 * compute, and puts together what it receives (DAPPLE §V-B2: split and concatenation, one to many,
 * many to one, many to many). Workers that compute a stage together all have whole tensors, or
 * their parts where all stages divide layers alike: part {@code p} hears from part {@code p} modulo
 * the parts of the other stage.
 *
 * <p>Tags differ by cut, direction, micro-batch and tensor.
 */
final class Crossing implements AutoCloseable {
  private final Assignment assignment;
  private final Transport transport;
  private final List<Part> parts; // of each stage of a chain
  private final Map<Message, Incoming> expected = new HashMap<>();
  private final Map<Message, List<Tensor>> here = new HashMap<>(); // from a stage of this worker
  private final PendingSends pendingSends;

  /** Everything that crosses a cut into {@code stage} for a micro-batch, in one direction. */
  private record Message(int stage, int microBatch, boolean forward) {}

  /**
   * Tensors that are about to arrive.
   *
   * @param rows of them, by worker
   */
  private record Incoming(List<Tensor> tensors, PendingReceives rows) {}

  /** A worker of the other stage, and the samples that both compute. */
  private record Peer(int worker, SampleRange samples) {}

  Crossing(Assignment assignment, Transport transport, List<Part> parts) {
    this.assignment = assignment;
    this.transport = transport;
    this.parts = parts;
    this.pendingSends = new PendingSends(transport);
  }

  /** Makes room for what a stage will need, so that it can arrive while others compute. */
  void expect(int stage, int microBatch, boolean forward) {
    Message message = new Message(stage, microBatch, forward);
    if (sameWorker(stage, forward) || expected.containsKey(message)) {
      return;
    }
    SampleRange own = samples(stage, microBatch);
    try (Scope scope = new Scope()) {
      List<Tensor> tensors = room(scope, stage, own.count(), forward);
      PendingReceives coming = new PendingReceives(transport);
      for (Peer peer : peers(stage, microBatch, forward, true)) {
        for (int i = 0; i < tensors.size(); i++) {
          Tensor rows = scope.keep(rows(tensors.get(i), own, peer.samples()));
          int tag = tag(stage, microBatch, forward, i);
          coming.receive(rows, peer.worker(), tag, arrived -> {});
        }
      }
      expected.put(message, new Incoming(tensors, coming));
    }
  }

  /** Waits for what a stage needs; the tensors are the caller's. */
  List<Tensor> take(int stage, int microBatch, boolean forward) {
    Message message = new Message(stage, microBatch, forward);
    if (sameWorker(stage, forward)) {
      return present(here.remove(message), message);
    }
    expect(stage, microBatch, forward);
    Incoming incoming = present(expected.remove(message), message);
    incoming.rows().await();
    return incoming.tensors();
  }

  private static <T> T present(@Nullable T found, Message message) {
    if (found == null) {
      throw new IllegalStateException("nothing was sent: " + message);
    }
    return found;
  }

  /**
   * Hands on what {@code from} has computed.
   *
   * @param tensors which are closed when they have left
   */
  void send(int from, int microBatch, boolean forward, List<Tensor> tensors) {
    int to = forward ? from + 1 : from - 1;
    if (sameWorker(to, forward)) {
      here.put(new Message(to, microBatch, forward), tensors);
      return;
    }
    SampleRange own = samples(from, microBatch);
    try (Scope scope = new Scope()) {
      for (Peer peer : peers(from, microBatch, !forward, false)) {
        for (int i = 0; i < tensors.size(); i++) {
          Tensor rows = scope.keep(rows(tensors.get(i), own, peer.samples()));
          int tag = tag(to, microBatch, forward, i);
          pendingSends.send(rows, peer.worker(), tag);
        }
      }
    }
    tensors.forEach(Tensor::close);
  }

  /** Adds what is under way. */
  void count(LiveBytes live) {
    here.values().forEach(tensors -> live.add(LiveBytes.Kind.ACTIVATIONS, tensors));
    expected.values().forEach(coming -> live.add(LiveBytes.Kind.MESSAGES, coming.tensors()));
    pendingSends.count(live);
  }

  /** Waits until everything has left. */
  void flush() {
    pendingSends.flush();
  }

  /** Whether a stage and the one that it hears from are on the same workers. */
  private boolean sameWorker(int stage, boolean forward) {
    return rank(stage) == rank(forward ? stage - 1 : stage + 1);
  }

  private int rank(int stage) {
    return assignment.schedule().placement().rankOf(stage);
  }

  private SampleRange samples(int stage, int microBatch) {
    return assignment.samples(stage, microBatch, transport.worker());
  }

  /**
   * The workers of the previous or next stage that this one exchanges tensors with.
   *
   * @param hears whether it takes them, or gives them
   */
  private List<Peer> peers(int stage, int microBatch, boolean before, boolean hears) {
    int other = before ? stage - 1 : stage + 1;
    SampleRange own = samples(stage, microBatch);
    int ownPart = assignment.partOf(transport.worker());
    int ownParts = assignment.split(rank(stage)).parts();
    int otherParts = assignment.split(rank(other)).parts();
    List<Peer> peers = new ArrayList<>();
    int first = assignment.firstWorker(rank(other));
    for (int i = 0; i < assignment.workers().get(rank(other)); i++) {
      int otherPart = i % otherParts;
      boolean meet = hears ? otherPart == ownPart % otherParts : ownPart == otherPart % ownParts;
      SampleRange both = own.overlap(assignment.samples(other, microBatch, first + i));
      if (meet && !both.isEmpty()) {
        peers.add(new Peer(first + i, both));
      }
    }
    return peers;
  }

  /** Tensors for what comes into a stage: its inputs, or the gradients of its outputs. */
  private List<Tensor> room(Scope scope, int stage, int samples, boolean forward) {
    int depth = assignment.schedule().placement().depth();
    Part behind = parts.get((forward ? stage : stage + 1) % depth); // the stage after the cut
    List<Tensor> tensors = new ArrayList<>();
    for (int i = 0; i < behind.inputs(); i++) {
      if (forward || behind.inputNeedsGradient(i)) {
        tensors.add(scope.keep(behind.emptyInput(i, samples)));
      }
    }
    return tensors;
  }

  /**
   * The rows of some samples; packed, since samples are the first axis. Of parts of samples both
   * stages have the same.
   */
  private static Tensor rows(Tensor tensor, SampleRange own, SampleRange samples) {
    if (own.equals(samples)) {
      return tensor.detached().packed();
    }
    return tensor.detached().part(0, samples.first() - own.first(), samples.count()).packed();
  }

  private int tag(int stage, int microBatch, boolean forward, int tensor) {
    int messages = assignment.schedule().stages() * assignment.schedule().microBatches();
    int message = stage * assignment.schedule().microBatches() + microBatch;
    return (tensor * 2 + (forward ? 0 : 1)) * messages + message;
  }

  /** Frees what was never taken. */
  @Override
  public void close() {
    pendingSends.close();
    expected.values().forEach(incoming -> incoming.tensors().forEach(Tensor::close));
    here.values().forEach(tensors -> tensors.forEach(Tensor::close));
  }
}
