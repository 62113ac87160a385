package dev.pipewright.runtime.transport;

import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * A group of two workers or more, over messages straight from member to member, which sends as few
 * bytes as any way does. Sums are taken in the order of the members, so that they have the same
 * bits every time, and those of {@link LocalTransport}.
 */
final class MessageGroup implements Group {
  /** Sums that are sent whole, when all others' copies are no more than that. */
  private static final long WHOLE_BYTES = 1 << 20;

  private final String name;
  private final int place;
  private final List<Integer> members;
  private final long channel;
  private final TcpMessages messages;
  private final InOrder background;
  private int operations;

  MessageGroup(String name, int place, List<Integer> members, TcpMessages messages) {
    this.name = name;
    this.place = place;
    this.members = List.copyOf(members);
    this.channel = MessageName.channel(name);
    this.messages = messages;
    this.background = new InOrder("sums of group " + name, messages.waiting());
  }

  @Override
  public int size() {
    return members.size();
  }

  /** This worker's number in the group. */
  int place() {
    return place;
  }

  @Override
  public Pending sum(Tensor tensor) {
    int operation = nextOperation();
    TensorMemory.checkPacked(tensor, "a sum in group " + name);
    try (Scope scope = new Scope()) {
      Tensor flat = scope.keep(TensorMemory.inOrder(tensor));
      if (flat.bytes() * (size() - 1) <= WHOLE_BYTES) {
        return sumWhole(scope, flat, operation);
      }
      return background.begin(() -> {
        new SegmentedSum(this, flat, operation).run();
        flat.close();
      });
    }
  }

  /** The sum is taken when it is awaited. */
  private Pending sumWhole(Scope scope, Tensor flat, int operation) {
    List<Pending> pending = new ArrayList<>();
    List<Tensor> terms = new ArrayList<>();
    for (int member = 0; member < size(); member++) {
      if (member == place) {
        terms.add(flat);
      } else {
        Tensor term = scope.keep(flat.twinOnHost());
        terms.add(term);
        pending.add(receive(term, member, 2 * operation));
        pending.add(send(flat, member, 2 * operation));
      }
    }
    return new PendingMessages(
        pending,
        () -> {
          addUp(terms, place);
          terms.forEach(Tensor::close);
        });
  }

  /**
   * Replaces the term at a place by the sum of all, added in their order; those before it are used
   * up.
   */
  static void addUp(List<Tensor> terms, int place) {
    try (Scope scope = new Scope()) {
      Tensor own = terms.get(place);
      for (int i = 1; i < place; i++) {
        terms.get(0).addInPlace(terms.get(i));
      }
      if (place > 0) {
        own.addInPlace(terms.get(0)); // a + b has the bits of b + a
      }
      for (int i = place + 1; i < terms.size(); i++) {
        own.addInPlace(terms.get(i));
      }
    }
  }

  @Override
  public Pending broadcast(Tensor tensor, int root) {
    int operation = nextOperation();
    if (place != root) {
      return receive(tensor, root, 2 * operation);
    }
    List<Pending> pending = new ArrayList<>();
    for (int member = 0; member < size(); member++) {
      if (member != root) {
        pending.add(send(tensor, member, 2 * operation));
      }
    }
    return new PendingMessages(pending, () -> {});
  }

  @Override
  public Pending gather(Tensor own, Tensor all) {
    int tag = 2 * nextOperation();
    List<Pending> pending = new ArrayList<>();
    try (Scope scope = new Scope()) {
      for (int member = 0; member < size(); member++) {
        Tensor part = part(all, member);
        if (member == place) {
          part.copyInPlace(own.flattened(0));
        } else {
          pending.add(receive(part, member, tag));
          pending.add(send(own, member, tag));
        }
      }
    }
    return new PendingMessages(pending, () -> {});
  }

  /** The sum is taken when it is awaited. */
  @Override
  public Pending sumParts(Tensor all, Tensor own) {
    int tag = 2 * nextOperation();
    List<Pending> pending = new ArrayList<>();
    List<Tensor> terms = new ArrayList<>();
    try (Scope scope = new Scope()) {
      for (int member = 0; member < size(); member++) {
        Tensor part = part(all, member);
        if (member == place) {
          terms.add(scope.keep(part));
        } else {
          Tensor term = scope.keep(part.twinOnHost());
          terms.add(term);
          pending.add(receive(term, member, tag));
          pending.add(send(part, member, tag));
        }
      }
    }
    Tensor sum = own.shared();
    return new PendingMessages(pending, () -> addUp(terms, sum));
  }

  private static void addUp(List<Tensor> terms, Tensor sum) {
    try (Scope scope = new Scope()) {
      Tensor flat = sum.flattened(0);
      flat.copyInPlace(terms.get(0));
      terms.subList(1, terms.size()).forEach(flat::addInPlace);
    }
    terms.forEach(Tensor::close);
    sum.close();
  }

  @Override
  public Pending exchange(List<Tensor> to, List<Tensor> from) {
    int tag = 2 * nextOperation();
    List<Pending> pending = new ArrayList<>();
    for (int member = 0; member < size(); member++) {
      if (member != place && from.get(member).elements() > 0) {
        pending.add(receive(from.get(member), member, tag));
      }
      if (member != place && to.get(member).elements() > 0) {
        pending.add(send(to.get(member), member, tag));
      }
    }
    return new PendingMessages(pending, () -> {});
  }

  /** The member's part of a tensor that has one for each. */
  private Tensor part(Tensor all, int member) {
    long elements = all.elements() / size();
    return all.flattened(0).part(0, member * elements, elements);
  }

  private int nextOperation() {
    operations = operations + 1 & Integer.MAX_VALUE >> 1;
    return operations;
  }

  Delivery send(Tensor tensor, int member, int tag) {
    return messages.send(new MessageName(channel, tag), tensor, members.get(member));
  }

  Delivery receive(Tensor tensor, int member, int tag) {
    return messages.receive(new MessageName(channel, tag), tensor, members.get(member));
  }

  /** Awaits a message in the background. */
  void await(Delivery message) {
    background.await(message);
  }

  /** Ends what has not begun. */
  void close() {
    background.close();
  }
}
