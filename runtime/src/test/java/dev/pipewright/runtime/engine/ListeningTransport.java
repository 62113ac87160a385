package dev.pipewright.runtime.engine;

import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.PassingTransport;
import dev.pipewright.runtime.transport.Pending;
import dev.pipewright.runtime.transport.Transport;
import java.util.List;

/**
 * Tells somebody of each collective operation that begins.
 *
 * @param listener on the worker's thread
 */
record ListeningTransport(Transport through, Runnable listener) implements PassingTransport {
  @Override
  public Group group(String name, List<Integer> members) {
    return new ListeningGroup(through.group(name, members), listener);
  }

  private record ListeningGroup(Group through, Runnable listener) implements Group {
    @Override
    public int size() {
      return through.size();
    }

    @Override
    public Pending sum(Tensor tensor) {
      listener.run();
      return through.sum(tensor);
    }

    @Override
    public Pending broadcast(Tensor tensor, int root) {
      listener.run();
      return through.broadcast(tensor, root);
    }

    @Override
    public Pending gather(Tensor own, Tensor all) {
      listener.run();
      return through.gather(own, all);
    }

    @Override
    public Pending sumParts(Tensor all, Tensor own) {
      listener.run();
      return through.sumParts(all, own);
    }

    @Override
    public Pending exchange(List<Tensor> to, List<Tensor> from) {
      listener.run();
      return through.exchange(to, from);
    }
  }
}
