package dev.pipewright.model.transformer;

/**
 * Which keys of a sequence a query reads, in addition to what causality hides.
 *
 * <p>Sources: I. Beltagy et al., <i>Longformer</i>, arXiv:2004.05150 (windows); Llama 4's model
 * card (chunks).
 */
public sealed interface AttentionSpan {
  /**
   * Keys that a query reads, averaged over the queries of a sequence of {@code sequence} tokens.
   */
  double keys(int sequence, boolean causal);

  /** All tokens of the sequence. */
  record Full() implements AttentionSpan {
    @Override
    public double keys(int sequence, boolean causal) {
      return causal ? (sequence + 1) / 2.0 : sequence;
    }
  }

  /** The last {@code tokens} tokens, its own included; both ways where attention is not causal. */
  record Window(int tokens) implements AttentionSpan {
    public Window {
      Counts.size("window", tokens);
    }

    @Override
    public double keys(int sequence, boolean causal) {
      double reach = Math.min(tokens, sequence);
      double before = reach - (reach * (reach - 1) / 2) / sequence; // the first ones see fewer
      return causal ? before : 2 * before - 1;
    }
  }

  /** The tokens of its own chunk: the sequence is cut every {@code tokens} tokens. */
  record Chunk(int tokens) implements AttentionSpan {
    public Chunk {
      Counts.size("chunk", tokens);
    }

    @Override
    public double keys(int sequence, boolean causal) {
      int whole = sequence / tokens; // full chunks
      int rest = sequence % tokens;
      return (whole * pairs(tokens, causal) + pairs(rest, causal)) / sequence;
    }

    private static double pairs(double length, boolean causal) {
      return causal ? length * (length + 1) / 2 : length * length;
    }
  }
}
