package dev.pipewright.runtime.transport;

import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * Tensors on a device are sent through the memory of its host: they are copied there before they
 * are sent, and from there when a received message is awaited.
 */
public final class StagedTransport implements Transport {
  private final Transport host;

  /**
   * @param host what carries tensors of the host
   */
  public StagedTransport(Transport host) {
    this.host = host;
  }

  @Override
  public int worker() {
    return host.worker();
  }

  @Override
  public int workers() {
    return host.workers();
  }

  @Override
  public Pending send(Tensor tensor, int to, int tag) {
    Stage stage = new Stage();
    return stage.ending(host.send(stage.copied(tensor), to, tag));
  }

  @Override
  public Pending receive(Tensor into, int from, int tag) {
    Stage stage = new Stage();
    return stage.ending(host.receive(stage.filling(into), from, tag));
  }

  @Override
  public Group group(String name, List<Integer> members) {
    return new StagedGroup(host.group(name, members), members.indexOf(worker()));
  }

  @Override
  public void close() {
    host.close();
  }

  /** The tensors of one operation, twice. */
  private static final class Stage {
    private final List<Tensor> hosts = new ArrayList<>();
    private final List<Runnable> endings = new ArrayList<>();

    /** The host's twin of what is sent. */
    Tensor copied(Tensor tensor) {
      return twin(tensor).copyInPlace(tensor);
    }

    /** The host's twin of what is filled at the end. */
    Tensor filling(Tensor tensor) {
      Tensor twin = twin(tensor);
      Tensor goal = tensor.shared(); // its maker may end its scope before
      endings.add(() -> goal.copyInPlace(twin).close());
      return twin;
    }

    private Tensor twin(Tensor tensor) {
      try (Scope scope = new Scope()) {
        Tensor twin = scope.keep(tensor.twinOnHost());
        hosts.add(twin);
        return twin;
      }
    }

    Pending ending(Pending operation) {
      return Pending.of(
          List.of(operation),
          () -> {
            endings.forEach(Runnable::run);
            hosts.forEach(Tensor::close);
          });
    }
  }

  /** Collective operations, likewise. */
  private record StagedGroup(Group host, int place) implements Group {
    @Override
    public int size() {
      return host.size();
    }

    @Override
    public Pending sum(Tensor tensor) {
      Stage stage = new Stage();
      return stage.ending(host.sum(stage.filling(tensor).copyInPlace(tensor)));
    }

    @Override
    public Pending broadcast(Tensor tensor, int root) {
      Stage stage = new Stage();
      return stage.ending(host.broadcast(stage.filling(tensor).copyInPlace(tensor), root));
    }

    @Override
    public Pending gather(Tensor own, Tensor all) {
      Stage stage = new Stage();
      return stage.ending(host.gather(stage.copied(own), stage.filling(all)));
    }

    @Override
    public Pending sumParts(Tensor all, Tensor own) {
      Stage stage = new Stage();
      return stage.ending(host.sumParts(stage.copied(all), stage.filling(own)));
    }

    @Override
    public Pending exchange(List<Tensor> to, List<Tensor> from) {
      Stage stage = new Stage();
      List<Tensor> received = new ArrayList<>();
      for (int member = 0; member < from.size(); member++) {
        Tensor tensor = from.get(member);
        received.add(member == place ? stage.copied(tensor) : stage.filling(tensor));
      }
      return stage.ending(host.exchange(to.stream().map(stage::copied).toList(), received));
    }
  }
}
