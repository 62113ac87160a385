package dev.pipewright.runtime.net;

import dev.pipewright.runtime.tensor.Tensor;

/** What a parameter is to the workers that compute its layer together. */
public sealed interface Share {
  /** The shape of the whole of which a worker has this share. */
  default long[] wholeShape(long[] own) {
    return own;
  }

  /** Copies a worker's share to its position in the whole. */
  default void put(Tensor own, Tensor whole) {
    whole.copyInPlace(own);
  }

  /** Copies a worker's share from its position in the whole. */
  default void take(Tensor own, Tensor whole) {
    own.copyInPlace(whole);
  }

  /** All members have the same numbers and the same gradients. */
  record Whole() implements Share {}

  /** All members have the same numbers, and gradients that are to be added up. */
  record Summed() implements Share {}

  /**
   * Each member has its own numbers: some positions of an axis.
   *
   * @param blocks that follow each other along the axis, each cut alike
   * @param first position within a block
   * @param count of positions within a block
   * @param whole positions of a whole block
   * @param ofGroup whether it is one of all members of a nested group, such as some experts, not
   *     one of each copy
   */
  record Piece(int axis, int blocks, long first, long count, long whole, boolean ofGroup)
      implements Share {
    @Override
    public long[] wholeShape(long[] own) {
      long[] shape = own.clone();
      shape[axis] = blocks * whole;
      return shape;
    }

    @Override
    public void put(Tensor own, Tensor all) {
      for (int block = 0; block < blocks; block++) {
        inWhole(all, block).copyInPlace(inOwn(own, block));
      }
    }

    @Override
    public void take(Tensor own, Tensor all) {
      for (int block = 0; block < blocks; block++) {
        inOwn(own, block).copyInPlace(inWhole(all, block));
      }
    }

    private Tensor inWhole(Tensor all, int block) {
      return all.part(axis, block * whole + first, count);
    }

    private Tensor inOwn(Tensor own, int block) {
      return own.part(axis, block * count, count);
    }
  }
}
