package dev.pipewright.runtime.transport;

import dev.pipewright.runtime.tensor.Tensor;
import org.bytedeco.pytorch.Backend;
import org.bytedeco.pytorch.BroadcastOptions;

/** A group of two workers or more over one of libtorch's process groups. */
abstract class NativeGroup implements Group {
  private final String name;
  private final Backend backend;
  private final int place;
  private final int size;

  NativeGroup(String name, Backend backend, int place, int size) {
    this.name = name;
    this.backend = backend;
    this.place = place;
    this.size = size;
  }

  @Override
  public final int size() {
    return size;
  }

  /** This worker's number in the group. */
  final int place() {
    return place;
  }

  @Override
  public final Pending sum(Tensor tensor) {
    return begin("a sum", backend::allreduce, tensor);
  }

  @Override
  public final Pending broadcast(Tensor tensor, int root) {
    return begin(
        "a broadcast",
        tensors -> {
          BroadcastOptions options = new BroadcastOptions();
          options.rootRank(root);
          return backend.broadcast(tensors, options);
        },
        tensor);
  }

  /**
   * Begins an operation.
   *
   * @param operation what it is, for the sentence that says that it failed
   */
  final Pending begin(String operation, NativePending.Begin begin, Tensor... tensors) {
    org.bytedeco.pytorch.Tensor[] handles = new org.bytedeco.pytorch.Tensor[tensors.length];
    for (int i = 0; i < handles.length; i++) {
      handles[i] = tensors[i].handle();
    }
    return NativePending.begin(operation + " in group " + name, begin, handles);
  }
}
