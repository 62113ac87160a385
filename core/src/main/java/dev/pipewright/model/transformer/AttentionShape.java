package dev.pipewright.model.transformer;

import dev.pipewright.units.Check;
import java.util.OptionalInt;

/** Attention with its projections, of one block. Below, h is the hidden size of the network. */
public sealed interface AttentionShape {
  int heads();

  /** Elements learned: projections, their biases and the norms inside. */
  long parameters(int hidden);

  /** Elements of the matrices that each token is multiplied by. */
  long weights(int hidden);

  /**
   * Multiplications for a query and a key: features of a query and of a value, over all heads. The
   * FLOP are twice as many.
   */
  long scoreWidth();

  /**
   * Elements of a token that the backward pass reads: what scores are made of, and the output.
   *
   * @param rotary whether queries and keys are rotated by positions, whose results are kept, too
   */
  double keptElements(boolean rotary);

  /** What normalises queries and keys before they are multiplied. */
  enum QueryKeyNorm {
    NONE,
    /** RMS norms over a head's features, whose scales all heads share (Qwen3, Gemma 3). */
    HEAD,
    /** RMS norms over the features of all heads (OLMo 2, MiniMax). */
    ALL_HEADS,
    /** Layer norms over a head's features, shared by all heads (Megatron with LayerNorm). */
    LAYER_HEAD,
    /** Without scales (Llama 4). */
    PLAIN
  }

  /**
   * Multi-head attention whose keys and values serve several heads each; as many key-value heads as
   * heads is multi-head attention, one is multi-query attention.
   *
   * <p>Source: J. Ainslie et al., <i>GQA</i>, EMNLP 2023, arXiv:2305.13245.
   *
   * @param headWidth features of a head; heads × headWidth need not be h
   * @param inputBiases whether the products for queries, keys and values have biases
   * @param outputBias whether the projection back to h has
   * @param sinks whether each head learns the score of a key that is not there (GPT-OSS)
   */
  record GroupedQuery(
      int heads,
      int keyValueHeads,
      int headWidth,
      boolean inputBiases,
      boolean outputBias,
      QueryKeyNorm norm,
      boolean sinks)
      implements AttentionShape {
    public GroupedQuery {
      Counts.size("heads", heads);
      Counts.size("key_value_heads", keyValueHeads);
      Counts.size("head_width", headWidth);
      Check.that(
          heads % keyValueHeads == 0,
          "heads=%d is no multiple of key_value_heads=%d; each key and value serves as many heads",
          heads,
          keyValueHeads);
    }

    /** Without biases, norms and sinks. */
    public static GroupedQuery plain(int heads, int keyValueHeads, int headWidth) {
      return new GroupedQuery(
          heads, keyValueHeads, headWidth, false, false, QueryKeyNorm.NONE, false);
    }

    /** As many keys and values as queries, with all biases. */
    public static GroupedQuery biased(int heads, int headWidth) {
      return new GroupedQuery(heads, heads, headWidth, true, true, QueryKeyNorm.NONE, false);
    }

    /** Features of the queries of all heads. */
    public long queryWidth() {
      return (long) heads * headWidth;
    }

    /** Features of the keys, or of the values, of all heads. */
    public long keyWidth() {
      return (long) keyValueHeads * headWidth;
    }

    @Override
    public long weights(int hidden) {
      return Counts.product(2L * hidden, Counts.sum(queryWidth(), keyWidth()));
    }

    @Override
    public long parameters(int hidden) {
      long normed =
          switch (norm) {
            case NONE, PLAIN -> 0;
            case HEAD -> 2L * headWidth;
            case LAYER_HEAD -> 4L * headWidth;
            case ALL_HEADS -> queryWidth() + keyWidth();
          };
      return Counts.sum(
          weights(hidden),
          Counts.where(inputBiases, queryWidth() + 2 * keyWidth()),
          Counts.where(outputBias, hidden),
          Counts.where(sinks, heads),
          normed);
    }

    @Override
    public long scoreWidth() {
      return 2 * queryWidth();
    }

    /** Queries, keys and values, rotated copies of the first two, and the output. */
    @Override
    public double keptElements(boolean rotary) {
      double plain = 2.0 * queryWidth() + 2.0 * keyWidth();
      return rotary ? plain + queryWidth() + keyWidth() : plain;
    }
  }

  /**
   * Multi-head latent attention: queries, keys and values of all heads are products of short
   * vectors; a rotated part of the key is shared by all heads.
   *
   * <p>Source: DeepSeek-AI, <i>DeepSeek-V2</i>, arXiv:2405.04434, §2.1.
   *
   * @param queryRank features of the vector that queries come from; empty where they come from the
   *     states (V2-Lite)
   * @param keyValueRank features of the vector that keys and values come from
   * @param plainWidth features of a head's query and key without rotation
   * @param rotaryWidth those with rotation
   * @param valueWidth features of a head's value
   * @param biases whether the first products and the last one have biases
   * @param latentNorms whether the short vectors are normalised
   */
  record Latent(
      int heads,
      OptionalInt queryRank,
      int keyValueRank,
      int plainWidth,
      int rotaryWidth,
      int valueWidth,
      boolean biases,
      boolean latentNorms)
      implements AttentionShape {
    public Latent {
      Counts.size("heads", heads);
      queryRank.ifPresent(rank -> Counts.size("query_rank", rank));
      Counts.size("key_value_rank", keyValueRank);
      Counts.size("plain_width", plainWidth);
      Counts.size("rotary_width", rotaryWidth);
      Counts.size("value_width", valueWidth);
    }

    private long queries() {
      return Counts.product(heads, (long) plainWidth + rotaryWidth);
    }

    @Override
    public long weights(int hidden) {
      long query =
          queryRank.isPresent()
              ? Counts.product(queryRank.getAsInt(), Counts.sum(hidden, queries()))
              : Counts.product(hidden, queries());
      return Counts.sum(
          query,
          Counts.product(hidden, (long) keyValueRank + rotaryWidth),
          Counts.product(keyValueRank, heads, (long) plainWidth + valueWidth),
          Counts.product(hidden, heads, valueWidth));
    }

    @Override
    public long parameters(int hidden) {
      long normed = (long) queryRank.orElse(0) + keyValueRank;
      long biased = (long) queryRank.orElse(0) + keyValueRank + rotaryWidth + hidden;
      return Counts.sum(
          weights(hidden), Counts.where(latentNorms, normed), Counts.where(biases, biased));
    }

    @Override
    public long scoreWidth() {
      return Counts.product(heads, (long) plainWidth + rotaryWidth + valueWidth);
    }

    /** Short vectors and their norms; of each head queries, keys, values and output. */
    @Override
    public double keptElements(boolean rotary) {
      double vectors = 2.0 * (queryRank.orElse(0) + keyValueRank + rotaryWidth);
      double head = 2.0 * (plainWidth + rotaryWidth) + plainWidth + 3.0 * valueWidth;
      return vectors + heads * head;
    }
  }
}
