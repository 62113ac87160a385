package dev.pipewright.runtime.transport;

import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.ProcessGroupGloo;

/**
 * A group of two workers or more. Sums and broadcasts are Gloo's. What gives parts to each or takes
 * parts from each goes in messages straight from member to member, which sends as few bytes as any
 * way does: libtorch's {@code _allgather_base} and {@code _reduce_scatter_base} make copies on the
 * way and took four to ten times as long for 64 MB between two processes.
 */
final class GlooGroup extends NativeGroup {
  private final List<Integer> members;
  private final int channel;
  private final Messages messages;
  private int operations;

  /**
   * @param channel of its messages
   */
  GlooGroup(
      String name,
      ProcessGroupGloo gloo,
      int place,
      List<Integer> members,
      int channel,
      Messages messages) {
    super(name, gloo, place, members.size());
    this.members = List.copyOf(members);
    this.channel = channel;
    this.messages = messages;
  }

  @Override
  public Pending gather(Tensor own, Tensor all) {
    int tag = nextTag();
    List<Pending> pending = new ArrayList<>();
    try (Scope scope = new Scope()) {
      for (int member = 0; member < size(); member++) {
        Tensor part = part(all, member);
        if (member == place()) {
          part.copyInPlace(own.flattened(0));
        } else {
          pending.add(receive(part, member, tag));
          pending.add(send(own, member, tag));
        }
      }
    }
    return new PendingMessages(pending, () -> {});
  }

  /** The sum is taken in the order of the members, when it is awaited. */
  @Override
  public Pending sumParts(Tensor all, Tensor own) {
    int tag = nextTag();
    List<Pending> pending = new ArrayList<>();
    List<Tensor> terms = new ArrayList<>();
    try (Scope scope = new Scope()) {
      for (int member = 0; member < size(); member++) {
        Tensor part = part(all, member);
        if (member == place()) {
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

  @Override
  public Pending exchange(List<Tensor> to, List<Tensor> from) {
    int tag = nextTag();
    List<Pending> pending = new ArrayList<>();
    for (int member = 0; member < size(); member++) {
      if (member != place() && from.get(member).elements() > 0) {
        pending.add(receive(from.get(member), member, tag));
      }
      if (member != place() && to.get(member).elements() > 0) {
        pending.add(send(to.get(member), member, tag));
      }
    }
    return new PendingMessages(pending, () -> {});
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

  /** The member's part of a tensor that has one for each. */
  private Tensor part(Tensor all, int member) {
    long elements = all.elements() / size();
    return all.flattened(0).part(0, member * elements, elements);
  }

  private int nextTag() {
    operations = operations + 1 & Integer.MAX_VALUE;
    return operations;
  }

  private Pending send(Tensor tensor, int member, int tag) {
    return messages.send(new MessageName(channel, tag), tensor, members.get(member));
  }

  private Pending receive(Tensor tensor, int member, int tag) {
    return messages.receive(new MessageName(channel, tag), tensor, members.get(member));
  }
}
