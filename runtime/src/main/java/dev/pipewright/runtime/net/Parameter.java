package dev.pipewright.runtime.net;

import dev.pipewright.parallel.Span;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * Numbers of a layer that are trained.
 *
 * @param name the layer's name and the parameter's, such as {@code fc6.weight}; unique in a network
 * @param share what they are to the workers that compute the layer together
 */
public record Parameter(String name, Tensor value, Share share) {
  /** Numbers that every worker has whole. */
  public Parameter(String name, Tensor value) {
    this(name, value, new Share.Whole());
  }

  /** Bytes of the whole that it is a piece of. */
  public long wholeBytes() {
    long elements = 1;
    for (long extent : share.wholeShape(value.shape())) {
      elements *= extent;
    }
    return value.bytes() / value.elements() * elements;
  }

  /** A member's piece of it, cut along an axis. */
  Parameter piece(TensorParallelGroup tensorGroup, int axis) {
    return piece(tensorGroup, axis, 1, 1);
  }

  /**
   * A member's piece of it.
   *
   * @param blocks that follow each other along the axis, each cut alike
   * @param unit positions that stay together
   */
  Parameter piece(TensorParallelGroup tensorGroup, int axis, int blocks, long unit) {
    long whole = value.extent(axis) / blocks;
    Span units = tensorGroup.own(whole / unit);
    var piece =
        new Share.Piece(
            axis,
            blocks,
            units.first() * unit,
            units.count() * unit,
            whole,
            tensorGroup.split().nested());
    List<Tensor> pieces = new ArrayList<>();
    for (int block = 0; block < blocks; block++) {
      pieces.add(value.detached().part(axis, block * whole + piece.first(), piece.count()));
    }
    return new Parameter(name, Tensor.joined(pieces, axis).withGradient(), piece);
  }
}
