package dev.pipewright.runtime.transport;

import dev.pipewright.units.Check;
import java.util.Arrays;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.Work;

/** An operation of NCCL under way, with its tensors, which live at least until its end. */
final class NcclPending implements Pending {
  private final Work work;
  private final TensorVector tensors;
  private final String what;
  private boolean ended;

  private NcclPending(Work work, TensorVector tensors, String what) {
    this.work = work;
    this.tensors = tensors;
    this.what = what;
  }

  /** Begins an operation. */
  interface Begin {
    Work with(TensorVector tensors);
  }

  /**
   * An operation that has begun.
   *
   * @param what it is, for the sentence that says that it failed
   */
  static NcclPending begin(String what, Begin begin, Tensor... of) {
    for (Tensor tensor : of) {
      Check.that(TensorMemory.isPacked(tensor), "messages carry packed tensors: %s", what);
    }
    try (PointerScope scope = new PointerScope()) { // not the caller's, which may end before
      Tensor[] rows = Arrays.stream(of).map(NcclPending::memory).toArray(Tensor[]::new);
      TensorVector tensors = new TensorVector(rows);
      Work work = begin.with(tensors);
      work.retainReference();
      tensors.retainReference();
      return new NcclPending(work, tensors, what);
    } catch (RuntimeException e) {
      throw lost(what, e);
    }
  }

  /** What a packed tensor holds, in the order in which it lies in memory. */
  private static Tensor memory(Tensor tensor) {
    return tensor.is_contiguous() ? tensor : tensor.as_strided(new long[] {tensor.numel()}, 1);
  }

  @Override
  public boolean done() {
    return ended || work.isCompleted();
  }

  @Override
  public void await() {
    if (ended) {
      return;
    }
    try {
      work._wait();
    } catch (RuntimeException e) {
      throw lost(what, e);
    } finally {
      ended = true;
      work.deallocate();
      tensors.deallocate();
    }
  }

  private static LostPeerException lost(String what, RuntimeException cause) {
    return new LostPeerException(what + " failed: a worker has stopped or is out of reach", cause);
  }
}
