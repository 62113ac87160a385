package dev.pipewright.runtime.transport;

import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;

/**
 * How one worker reaches the others. Workers are numbered from 0. Nothing blocks but {@link
 * Pending#await} and the making of groups.
 */
public interface Transport extends AutoCloseable {
  /** The number of this worker. */
  int worker();

  int workers();

  /**
   * Sends a dense tensor.
   *
   * @param tag distinguishes messages between the same two workers while both are under way
   */
  Pending send(Tensor tensor, int to, int tag);

  /** Fills a dense tensor with what the other sends under this tag. */
  Pending receive(Tensor into, int from, int tag);

  /**
   * Those workers, this one among them, for collective operations. All members ask for it, each for
   * all its groups in the same order.
   *
   * @param name the same for all members, and no other group's
   * @param members ascending
   */
  Group group(String name, List<Integer> members);

  @Override
  void close();
}
