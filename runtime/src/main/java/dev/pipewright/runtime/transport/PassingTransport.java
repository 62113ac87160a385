package dev.pipewright.runtime.transport;

import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;

/** A transport over another one, which does all that is not said otherwise. */
public interface PassingTransport extends Transport {
  /** The one that carries everything. */
  Transport through();

  @Override
  default int worker() {
    return through().worker();
  }

  @Override
  default int workers() {
    return through().workers();
  }

  @Override
  default Pending send(Tensor tensor, int to, int tag) {
    return through().send(tensor, to, tag);
  }

  @Override
  default Pending receive(Tensor into, int from, int tag) {
    return through().receive(into, from, tag);
  }

  @Override
  default Group group(String name, List<Integer> members) {
    return through().group(name, members);
  }

  @Override
  default void close() {
    through().close();
  }
}
