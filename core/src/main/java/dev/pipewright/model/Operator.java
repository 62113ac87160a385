package dev.pipewright.model;

import java.util.List;

/** What a layer computes. A new case breaks every interpreter at compile time. */
public sealed interface Operator {
  /** The network's input. */
  record Input() implements Operator {}

  /** A convolution over any number of spatial axes; lists hold one value per axis. */
  record Convolution(
      int inChannels,
      int outChannels,
      List<Integer> kernel,
      List<Integer> stride,
      List<Integer> padding,
      List<Integer> dilation,
      int groups,
      boolean bias)
      implements Operator {}

  /** A matrix product over the last axis. */
  record Linear(int in, int out, boolean bias) implements Operator {}

  /** Batch or layer normalisation with scale and shift per feature. */
  record Normalization(Normalization.Kind kind, int features) implements Operator {
    /** What the statistics are taken over. */
    public enum Kind {
      BATCH,
      LAYER
    }
  }

  /** Maximum or average over a window; a global pooling's window is the whole extent. */
  record Pooling(
      Pooling.Kind kind, List<Integer> kernel, List<Integer> stride, List<Integer> padding)
      implements Operator {
    /** What is taken of the window. */
    public enum Kind {
      MAX,
      AVERAGE
    }
  }

  /** An element-wise function: {@code relu}, {@code add}, {@code dropout}, {@code softmax}. */
  record Elementwise(String function) implements Operator {}

  /** Joins its inputs along the channels. */
  record Concatenation() implements Operator {}

  /** A look-up table. */
  record Embedding(int vocabulary, int features) implements Operator {}

  /** Multi-head self-attention with its projections. */
  record Attention(int hidden, int heads, int sequence) implements Operator {}

  /** A recurrent layer over a whole sequence. */
  record Lstm(int in, int hidden, boolean bidirectional, int sequence) implements Operator {}

  /**
   * Several operators that a planner treats as one layer: a transformer block, a cell of a searched
   * network.
   */
  record Block(String kind) implements Operator {}

  /** A layer known from a file by its description only. */
  record Recorded(String description) implements Operator {}
}
