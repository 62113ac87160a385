package dev.pipewright.runtime.tensor;

import org.bytedeco.pytorch.global.torch.ScalarType;

/** Counts of rows as tensors that workers exchange: exact up to 2²⁴ rows. */
public final class RowCounts {
  private RowCounts() {}

  /** A tensor of the counts. */
  public static Tensor of(long[] counts) {
    Tensor whole = Tensor.ofWhole(counts, counts.length);
    return new Tensor(NewTensors.zeros(counts.length).add(whole.handle()));
  }

  /** The counts of such a tensor. */
  public static long[] in(Tensor tensor) {
    return new Tensor(tensor.handle().to(ScalarType.Long)).toWhole();
  }
}
