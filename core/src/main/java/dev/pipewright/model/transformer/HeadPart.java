package dev.pipewright.model.transformer;

/** One of the things that the last states are turned into. Below, h is the hidden size. */
public sealed interface HeadPart {
  /** Elements learned. */
  long parameters(int hidden, InputShape input);

  /** FLOP of the forward pass for one token, of {@code sequence} tokens. */
  double flopsPerToken(int hidden, InputShape input, int sequence);

  /**
   * Scores of all words at each token.
   *
   * @param tied whether the product is with the embedding's table, which is counted there
   * @param bias whether each word has one
   */
  record Scores(boolean tied, boolean bias) implements HeadPart {
    @Override
    public long parameters(int hidden, InputShape input) {
      InputShape.Words words = words(input);
      return Counts.sum(
          Counts.where(!tied, Counts.product(words.vocabulary(), words.width())),
          words.projection(hidden),
          Counts.where(bias, words.vocabulary()));
    }

    @Override
    public double flopsPerToken(int hidden, InputShape input, int sequence) {
      InputShape.Words words = words(input);
      return 2.0 * words.projection(hidden) + 2.0 * words.vocabulary() * words.width();
    }
  }

  /**
   * A layer of h features with its norm, before {@link Scores} (J. Devlin et al., <i>BERT</i>,
   * NAACL 2019).
   */
  record Transform(NormShape norm) implements HeadPart {
    @Override
    public long parameters(int hidden, InputShape input) {
      return Counts.sum(Counts.product(hidden, hidden), hidden, norm.parameters(hidden));
    }

    @Override
    public double flopsPerToken(int hidden, InputShape input, int sequence) {
      return 2.0 * hidden * hidden;
    }
  }

  /** A layer of h features over the first token (BERT, ViT). */
  record Pooler() implements HeadPart {
    @Override
    public long parameters(int hidden, InputShape input) {
      return Counts.sum(Counts.product(hidden, hidden), hidden);
    }

    @Override
    public double flopsPerToken(int hidden, InputShape input, int sequence) {
      return 2.0 * hidden * hidden / sequence;
    }
  }

  /** Scores of {@code classes} classes, with biases, once for a sequence. */
  record Classes(int classes) implements HeadPart {
    public Classes {
      Counts.size("classes", classes);
    }

    @Override
    public long parameters(int hidden, InputShape input) {
      return Counts.product(classes, hidden + 1L);
    }

    @Override
    public double flopsPerToken(int hidden, InputShape input, int sequence) {
      return 2.0 * hidden * classes / sequence;
    }
  }

  private static InputShape.Words words(InputShape input) {
    if (input instanceof InputShape.Words words) {
      return words;
    }
    throw new IllegalArgumentException("scores of words need a table of words");
  }
}
