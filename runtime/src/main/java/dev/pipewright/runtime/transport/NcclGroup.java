package dev.pipewright.runtime.transport;

import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.bytedeco.pytorch.BroadcastOptions;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.nccl.ProcessGroupNCCL;

/**
 * A group of two workers or more, each with a GPU of its own: libtorch's NCCL. Whoever awaits an
 * operation has what is computed next wait for it, not itself. Unverified: no machine that this was
 * written on had a GPU.
 */
final class NcclGroup implements Group {
  private final String name;
  private final ProcessGroupNCCL nccl;
  private final int place;
  private final int size;

  NcclGroup(String name, ProcessGroupNCCL nccl, int place, int size) {
    this.name = name;
    this.nccl = nccl;
    this.place = place;
    this.size = size;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public Pending sum(Tensor tensor) {
    return begin("a sum", nccl::allreduce, tensor);
  }

  @Override
  public Pending broadcast(Tensor tensor, int root) {
    return begin(
        "a broadcast",
        tensors -> {
          BroadcastOptions options = new BroadcastOptions();
          options.rootRank(root);
          return nccl.broadcast(tensors, options);
        },
        tensor);
  }

  @Override
  public Pending gather(Tensor own, Tensor all) {
    return begin("a gathering", list -> nccl._allgather_base(list.get(0), list.get(1)), all, own);
  }

  @Override
  public Pending sumParts(Tensor all, Tensor own) {
    return begin(
        "a sum of parts", list -> nccl._reduce_scatter_base(list.get(0), list.get(1)), own, all);
  }

  @Override
  public Pending exchange(List<Tensor> to, List<Tensor> from) {
    List<Tensor> all = new ArrayList<>(withoutOwn(from));
    all.addAll(withoutOwn(to));
    return begin(
        "an exchange",
        list -> nccl.alltoall(part(list, 0), part(list, size)),
        all.toArray(Tensor[]::new));
  }

  /** Nothing goes from a worker to itself. */
  private List<Tensor> withoutOwn(List<Tensor> tensors) {
    return IntStream.range(0, size)
        .mapToObj(member -> member == place ? Tensor.empty(0) : tensors.get(member))
        .toList();
  }

  private TensorVector part(TensorVector list, int first) {
    return new TensorVector(
        IntStream.range(first, first + size)
            .mapToObj(list::get)
            .toArray(org.bytedeco.pytorch.Tensor[]::new));
  }

  /**
   * Begins an operation.
   *
   * @param operation what it is, for the sentence that says that it failed
   */
  private Pending begin(String operation, NcclPending.Begin begin, Tensor... tensors) {
    org.bytedeco.pytorch.Tensor[] handles = new org.bytedeco.pytorch.Tensor[tensors.length];
    for (int i = 0; i < handles.length; i++) {
      handles[i] = tensors[i].handle();
    }
    return NcclPending.begin(operation + " in group " + name, begin, handles);
  }
}
