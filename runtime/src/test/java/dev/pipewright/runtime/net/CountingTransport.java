package dev.pipewright.runtime.net;

import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.PassingTransport;
import dev.pipewright.runtime.transport.Pending;
import dev.pipewright.runtime.transport.Transport;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;

/**
 * Counts what goes through a transport.
 *
 * @param summed bytes of the tensors that this worker has summed with others
 * @param handed bytes that it has handed others in exchanges
 * @param shared bytes of which it has got its part of a sum, or that it has gathered of parts
 * @param communication bytes that one has told all
 * @param sent bytes of messages to single workers
 */
public record CountingTransport(
    Transport through,
    AtomicLong summed,
    AtomicLong handed,
    AtomicLong shared,
    AtomicLong communication,
    AtomicLong sent)
    implements PassingTransport {

  public CountingTransport(Transport through) {
    this(
        through,
        new AtomicLong(),
        new AtomicLong(),
        new AtomicLong(),
        new AtomicLong(),
        new AtomicLong());
  }

  /**
   * Has each worker's transport be counted.
   *
   * @param counted by worker, as they come; for several threads
   */
  public static UnaryOperator<Transport> into(Map<Integer, CountingTransport> counted) {
    return transport -> {
      CountingTransport counting = new CountingTransport(transport);
      counted.put(transport.worker(), counting);
      return counting;
    };
  }

  @Override
  public Pending send(Tensor tensor, int to, int tag) {
    sent.addAndGet(tensor.bytes());
    return through.send(tensor, to, tag);
  }

  @Override
  public Group group(String name, List<Integer> members) {
    Group group = through.group(name, members);
    int place = members.indexOf(worker());
    return new Group() {
      @Override
      public int size() {
        return group.size();
      }

      @Override
      public Pending sum(Tensor tensor) {
        summed.addAndGet(tensor.bytes());
        return group.sum(tensor);
      }

      @Override
      public Pending broadcast(Tensor tensor, int root) {
        communication.addAndGet(tensor.bytes());
        return group.broadcast(tensor, root);
      }

      @Override
      public Pending gather(Tensor own, Tensor all) {
        shared.addAndGet(all.bytes());
        return group.gather(own, all);
      }

      @Override
      public Pending sumParts(Tensor all, Tensor own) {
        shared.addAndGet(all.bytes());
        return group.sumParts(all, own);
      }

      @Override
      public Pending exchange(List<Tensor> to, List<Tensor> from) {
        for (int member = 0; member < members.size(); member++) {
          handed.addAndGet(member == place ? 0 : to.get(member).bytes());
        }
        return group.exchange(to, from);
      }
    };
  }
}
