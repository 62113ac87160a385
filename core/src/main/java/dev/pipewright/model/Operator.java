package dev.pipewright.model;

import dev.pipewright.model.transformer.InputShape;
import dev.pipewright.model.transformer.LayerShape;
import dev.pipewright.model.transformer.NormShape;
import java.util.List;

/** What a layer computes. A new case breaks every interpreter at compile time. */
public sealed interface Operator {
  /** The network's input. */
  record Input() implements Operator {}

  /** An input of the network that names words, one for each step. */
  record Tokens(int vocabulary) implements Operator {}

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

  /**
   * A matrix product over the last axis. Where one row of features comes out, a map is flattened
   * first, and of a sequence the first step's features are read.
   */
  record Linear(int in, int out, boolean bias) implements Operator {}

  /** A normalisation of features. */
  record Normalization(Normalization.Kind kind, int features) implements Operator {
    /** Which values share statistics, and which parameters each feature has. */
    public enum Kind {
      /** All samples and positions; scale and shift. */
      BATCH,
      /** The features of a position; scale and shift. */
      LAYER,
      /** The same, by root mean squares; scale. */
      RMS,
      /** As {@link #LAYER}; nothing learned. */
      PLAIN
    }

    /** Of a transformer's states. */
    public static Normalization of(NormShape shape, int features) {
      return new Normalization(
          switch (shape) {
            case LAYER -> Kind.LAYER;
            case RMS -> Kind.RMS;
            case PLAIN -> Kind.PLAIN;
          },
          features);
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

  /**
   * An element-wise function: {@code relu}, {@code gelu}, {@code tanh}, {@code add}, {@code
   * dropout}, {@code softmax}.
   */
  record Elementwise(String function) implements Operator {}

  /** Joins its inputs along the channels. */
  record Concatenation() implements Operator {}

  /** A look-up table. */
  record Embedding(int vocabulary, int features) implements Operator {}

  /** Adds a learned vector for each step of a sequence. */
  record Positions(int steps, int features) implements Operator {}

  /** Adds the learned vector of a token's segment: of the first, where nothing names it. */
  record Segments(int segments, int features) implements Operator {}

  /** Puts a learned token before the places of a map, which become the steps of a sequence. */
  record ClassToken(int features) implements Operator {}

  /** Hands on, behind each step's features, which steps it may not attend to: none. */
  record Mask(int sequence) implements Operator {}

  /** The scores of all words by an embedding's own table, which is that of layer {@code layer}. */
  record TiedScores(String layer) implements Operator {}

  /** Looks up words in an embedding's own table, which is that of layer {@code layer}. */
  record TiedEmbedding(String layer) implements Operator {}

  /** Multi-head self-attention with its projections. */
  record Attention(int hidden, int heads, int sequence) implements Operator {}

  /** A recurrent layer over a whole sequence. */
  record Lstm(int in, int hidden, boolean bidirectional, int sequence) implements Operator {}

  /**
   * A layer of GNMT's decoder that reads the target's words and the encoder's output: a look-up
   * table, a recurrent layer and the attention of its states to the encoder's. It hands on the
   * states and, behind them, what they attended to.
   */
  record AttentionLstm(int vocabulary, int hidden) implements Operator {}

  /** Adds the first features of what the layer read. */
  record Residual(int features) implements Operator {}

  /** Hands on, behind its features, the last ones of what the layer read. */
  record Carried(int features) implements Operator {}

  /**
   * A transformer's block: attention and a perceptron four times as wide, each with a normalisation
   * and a residual sum. Features behind the {@code hidden} first are a mask, added to the scores.
   *
   * @param causal whether a step attends to none behind it
   * @param normalizedFirst whether attention and perceptron read normalised states and add to plain
   *     ones (GPT, ViT), or read plain ones and the sum is normalised (BERT)
   */
  record TransformerBlock(
      int hidden, int heads, int sequence, boolean causal, boolean normalizedFirst)
      implements Operator {}

  /**
   * A transformer's block of any shape, whose attention keeps no scores. It reads normalised states
   * and adds to plain ones.
   *
   * @param sequence tokens of a sample
   * @param causal whether a token reads none after it
   * @param positions of the network, which a block applies where they are rotary
   */
  record ShapedBlock(
      LayerShape shape, int hidden, int sequence, boolean causal, InputShape.Positions positions)
      implements Operator {}

  /**
   * Several operators that a planner treats as one layer and of which it knows no details: a cell
   * of a searched network.
   */
  record Block(String kind) implements Operator {}

  /** A layer known from a file by its description only. */
  record Recorded(String description) implements Operator {}
}
