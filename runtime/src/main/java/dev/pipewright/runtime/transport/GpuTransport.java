package dev.pipewright.runtime.transport;

import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.javacpp.chrono.Milliseconds;
import org.bytedeco.pytorch.global.torch_nccl;
import org.bytedeco.pytorch.nccl.ProcessGroupNCCL;

/**
 * Workers that compute on GPUs. Collective operations are NCCL's where each worker has a GPU of its
 * own, which NCCL asks for, and go through the hosts' memory where workers share one.
 *
 * <p>Messages always go through the hosts' memory: NCCL's have no tags and are done in the order in
 * which they are asked for, and a pipeline's receivers ask long before the message is there, which
 * would keep everything behind it waiting. Unverified: no machine that this was written on had a
 * GPU.
 */
public final class GpuTransport implements Transport {
  private final Transport host;
  private final Transport staged;
  private final AddressBook book;
  private final List<ProcessGroupNCCL> groups = new ArrayList<>();

  private GpuTransport(Transport host, AddressBook book) {
    this.host = host;
    this.staged = new StagedTransport(host);
    this.book = book;
  }

  /**
   * All workers call it.
   *
   * @param host what carries tensors of the processors
   * @param book of all workers
   * @param machine the address of this machine by which the other workers reach it
   * @param gpu the number of this worker's GPU on it
   */
  public static Transport over(Transport host, AddressBook book, String machine, int gpu) {
    return apart(host, machine, gpu) ? new GpuTransport(host, book) : new StagedTransport(host);
  }

  /** Whether no two workers share a GPU. */
  static boolean apart(Transport host, String machine, int gpu) {
    List<Integer> all = IntStream.range(0, host.workers()).boxed().toList();
    long[] place = {machine.hashCode(), gpu};
    try (Scope scope = new Scope()) {
      Tensor own = Tensor.ofWhole(place, place.length).twinOnHost();
      own.copyInPlace(Tensor.ofWhole(place, place.length));
      Tensor places = Tensor.ofWhole(new long[2 * all.size()], all.size(), 2).twinOnHost();
      host.group("gpus", all).gather(own, places).await();
      long[] found = places.toWhole();
      return all.stream()
              .map(worker -> Arrays.toString(Arrays.copyOfRange(found, 2 * worker, 2 * worker + 2)))
              .distinct()
              .count()
          == all.size();
    }
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
    return staged.send(tensor, to, tag);
  }

  @Override
  public Pending receive(Tensor into, int from, int tag) {
    return staged.receive(into, from, tag);
  }

  @Override
  public Group group(String name, List<Integer> members) {
    if (members.size() == 1) {
      return staged.group(name, members);
    }
    Loader.load(torch_nccl.class);
    int place = members.indexOf(worker());
    try (PointerScope scope = new PointerScope()) {
      ProcessGroupNCCL.Options options = ProcessGroupNCCL.Options.create();
      options.timeout(new Milliseconds(AddressBook.PATIENCE_MILLISECONDS));
      ProcessGroupNCCL group =
          new ProcessGroupNCCL(book.page("nccl/" + name), place, members.size(), options);
      group.retainReference();
      groups.add(group);
      return new NcclGroup(name, group, place, members.size());
    } catch (RuntimeException e) {
      throw new LostPeerException("not all workers could be reached", e);
    }
  }

  @Override
  public void close() {
    groups.forEach(ProcessGroupNCCL::deallocate);
    host.close();
  }
}
