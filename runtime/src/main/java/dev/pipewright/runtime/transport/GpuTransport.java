package dev.pipewright.runtime.transport;

import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.javacpp.chrono.Milliseconds;
import org.bytedeco.pytorch.FileStore;
import org.bytedeco.pytorch.Store;
import org.bytedeco.pytorch.global.torch_nccl;
import org.bytedeco.pytorch.nccl.ProcessGroupNCCL;

/**
 * Workers that compute on the GPUs of one machine. Collective operations are NCCL's where each
 * worker has a GPU of its own, which NCCL asks for, and go through the host's memory where workers
 * share one. Between machines NCCL would neither authenticate nor encrypt; there all goes through
 * the hosts' memory ({@link StagedTransport}).
 *
 * <p>Messages always go through the hosts' memory: NCCL's have no tags and are done in the order in
 * which they are asked for, and a pipeline's receivers ask long before the message is there, which
 * would keep everything after it waiting. Unverified: no machine that this was written on had a
 * GPU.
 */
public final class GpuTransport implements Transport {
  private final Transport host;
  private final Transport staged;
  private final Path folder;
  private final List<ProcessGroupNCCL> groups = new ArrayList<>();

  private GpuTransport(Transport host, Path folder) {
    this.host = host;
    this.staged = new StagedTransport(host);
    this.folder = folder;
  }

  /**
   * All workers of one machine call it.
   *
   * @param host what carries tensors of the processors
   * @param folder that all workers see and only their user can enter: NCCL's members find each
   *     other there
   * @param gpu the number of this worker's GPU
   */
  public static Transport over(Transport host, Path folder, int gpu) {
    return apart(host, gpu) ? new GpuTransport(host, folder) : new StagedTransport(host);
  }

  /** Whether no two workers share a GPU. */
  static boolean apart(Transport host, int gpu) {
    List<Integer> all = IntStream.range(0, host.workers()).boxed().toList();
    long[] own = {gpu};
    try (Scope scope = new Scope()) {
      Tensor number = Tensor.ofWhole(own, 1).twinOnHost();
      number.copyInPlace(Tensor.ofWhole(own, 1));
      Tensor numbers = Tensor.ofWhole(new long[all.size()], all.size()).twinOnHost();
      host.group("gpus", all).gather(number, numbers).await();
      return Arrays.stream(numbers.toWhole()).distinct().count() == all.size();
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
      options.timeout(new Milliseconds(Delivery.PATIENCE_NANOSECONDS / 1_000_000));
      ProcessGroupNCCL group =
          new ProcessGroupNCCL(store(name, members.size()), place, members.size(), options);
      group.retainReference();
      groups.add(group);
      return new NcclGroup(name, group, place, members.size());
    } catch (RuntimeException e) {
      throw new LostPeerException("not all workers could be reached", e);
    }
  }

  /** A file of the group's own. */
  private Store store(String name, int members) {
    String file = "nccl-" + Long.toHexString(MessageName.channel(name));
    return new FileStore(folder.resolve(file).toString(), members).clone();
  }

  @Override
  public void close() {
    groups.forEach(ProcessGroupNCCL::deallocate);
    host.close();
  }
}
