package dev.pipewright.runtime.transport;

import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.javacpp.chrono.Milliseconds;
import org.bytedeco.pytorch.ProcessGroupGloo;
import org.bytedeco.pytorch.gloo.Device;

/**
 * Workers that are processes, on one machine or several, over TCP: {@link Messages} of our own, and
 * libtorch's Gloo for sums and broadcasts.
 */
public final class TcpTransport implements Transport {
  private static final int NO_GROUP = 0; // whose numbers begin at 1

  private final AddressBook book;
  private final Device device;
  private final Messages messages;
  private final Transport self = LocalTransport.of(1).get(0); // Gloo connects nobody to himself
  private final List<ProcessGroupGloo> groups = new ArrayList<>();
  private final int worker;
  private final int workers;

  /**
   * Returns when it is connected to all others.
   *
   * @param book of all workers; the caller closes it after this
   * @param host the address of this machine by which the other workers reach it
   */
  public TcpTransport(AddressBook book, String host, int worker, int workers) {
    Check.that(
        0 <= worker && worker < workers, "no such worker: worker=%d, workers=%d", worker, workers);
    this.book = book;
    this.worker = worker;
    this.workers = workers;
    try (PointerScope scope = new PointerScope()) {
      device = ProcessGroupGloo.createDeviceForHostname(host);
      device.retainReference();
    }
    messages = Messages.connected(book, host, worker, workers);
  }

  private ProcessGroupGloo connected(String name, int place, int size) {
    try (PointerScope scope = new PointerScope()) {
      ProcessGroupGloo.Options options = ProcessGroupGloo.Options.create();
      options.devices().push_back(device);
      options.threads(1); // collective operations one after the other, each at full speed
      options.timeout(new Milliseconds(AddressBook.PATIENCE_MILLISECONDS));
      ProcessGroupGloo group = new ProcessGroupGloo(book.page(name), place, size, options);
      group.retainReference();
      return group;
    } catch (RuntimeException e) {
      throw new LostPeerException("not all workers could be reached", e);
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
    return messages.send(new MessageName(NO_GROUP, tag), tensor, to);
  }

  @Override
  public Pending receive(Tensor into, int from, int tag) {
    if (from == worker) {
      return self.receive(into, 0, tag);
    }
    return messages.receive(new MessageName(NO_GROUP, tag), into, from);
  }

  @Override
  public Group group(String name, List<Integer> members) {
    int place = members.indexOf(worker);
    Check.that(place >= 0, "worker %d asks for a group that it is not in: %s", worker, members);
    if (members.size() == 1) {
      return new GroupOfOne();
    }
    ProcessGroupGloo group = connected("group/" + name, place, members.size());
    groups.add(group);
    return new GlooGroup(name, group, place, members, channel(name, place), messages);
  }

  /** The first member's choice. */
  private int channel(String name, int place) {
    String page = "channel/" + name;
    if (place == 0) {
      book.tell(page, String.valueOf(book.number()));
    }
    return Integer.parseInt(book.ask(page));
  }

  /** Closes all connections, so nobody may still wait for this worker. */
  @Override
  public void close() {
    groups.forEach(ProcessGroupGloo::deallocate);
    messages.close();
    device.deallocate();
  }
}
