package dev.pipewright.runtime.transport;

import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.List;

/** Workers that are processes, on one machine or several, over TCP. */
public final class TcpTransport implements Transport {
  private final TcpMessages messages;
  private final Transport self = LocalTransport.of(1).get(0); // no worker connects to itself
  private final List<MessageGroup> groups = new ArrayList<>();
  private final int worker;
  private final int workers;

  /**
   * Returns when it is connected to all others, in both directions.
   *
   * @param entrance of this worker, which is closed then
   * @param addresses of the entrances of all workers
   */
  public TcpTransport(Entrance entrance, List<String> addresses, int worker) {
    Check.that(
        0 <= worker && worker < addresses.size(),
        "no such worker: worker=%d, workers=%d",
        worker,
        addresses.size());
    this.worker = worker;
    this.workers = addresses.size();
    try (entrance) {
      messages = TcpMessages.connected(entrance, addresses, worker);
    }
  }

  @Override
  public int worker() {
    return worker;
  }

  @Override
  public int workers() {
    return workers;
  }

  @Override
  public Pending send(Tensor tensor, int to, int tag) {
    if (to == worker) {
      return self.send(tensor, 0, tag);
    }
    return messages.send(new MessageName(MessageName.NO_GROUP, tag), tensor, to);
  }

  @Override
  public Pending receive(Tensor into, int from, int tag) {
    if (from == worker) {
      return self.receive(into, 0, tag);
    }
    return messages.receive(new MessageName(MessageName.NO_GROUP, tag), into, from);
  }

  @Override
  public Group group(String name, List<Integer> members) {
    int place = members.indexOf(worker);
    Check.that(place >= 0, "worker %d asks for a group that it is not in: %s", worker, members);
    if (members.size() == 1) {
      return new GroupOfOne();
    }
    MessageGroup group = new MessageGroup(name, place, members, messages);
    groups.add(group);
    return group;
  }

  /** The worker that the thread which made this is waiting for; -1 for none. Any thread may ask. */
  public int waitingFor() {
    return messages.waiting().worker();
  }

  /** Closes all connections, so that no other may still wait for this worker. */
  @Override
  public void close() {
    groups.forEach(MessageGroup::close);
    messages.close();
  }
}
