package dev.pipewright.model.transformer;

import dev.pipewright.units.Check;
import java.util.Optional;

/** What turns a sample into the states that the first block reads. */
public sealed interface InputShape {
  /** Elements learned, with a hidden size of {@code hidden}. */
  long parameters(int hidden);

  /** FLOP of the forward pass for one token. */
  double flopsPerToken(int hidden);

  /** How a token's position enters. */
  sealed interface Positions {
    /** Queries and keys are rotated (J. Su et al., <i>RoFormer</i>, arXiv:2104.09864). */
    record Rotary() implements Positions {}

    /** A learned vector for each of so many positions. */
    record Learned(int rows) implements Positions {
      public Learned {
        Counts.size("positions", rows);
      }
    }

    /**
     * A learned score for each distance class and head, in each stack's first block; all blocks of
     * the stack use it (C. Raffel et al., <i>T5</i>, JMLR 2020, §2.1).
     */
    record Relative(int buckets) implements Positions {
      public Relative {
        Counts.size("buckets", buckets);
      }
    }

    /** Nothing learned: none, fixed sines, or linear biases (ALiBi). */
    record Fixed() implements Positions {}
  }

  Positions positions();

  /**
   * A table of words.
   *
   * @param vocabulary rows of the table
   * @param width features of a row; a matrix without biases leads to the hidden size where that is
   *     another (OPT)
   * @param segments rows of a table of sentences' kinds (BERT); 0 for none
   * @param norm what normalises the sum
   */
  record Words(
      int vocabulary, int width, Positions positions, int segments, Optional<NormShape> norm)
      implements InputShape {
    private static final int MULTIPLE = 128;

    public Words {
      Check.that(
          vocabulary >= 1 && vocabulary <= 1 << 28,
          "vocabulary=%d is out of range; write 1 to %d",
          vocabulary,
          1 << 28);
      Counts.size("embedding_width", width);
      Check.that(
          segments >= 0 && segments <= 1 << 16,
          "segments=%d is out of range; write 0 to %d",
          segments,
          1 << 16);
    }

    /** Of the hidden size, without segments and normalisation. */
    public static Words of(int vocabulary, int hidden, Positions positions) {
      return new Words(vocabulary, hidden, positions, 0, Optional.empty());
    }

    /**
     * The same table with rows up to a multiple of 128 for each of {@code ranks} tensor-parallel
     * ranks, as Megatron-LM pads it.
     */
    public Words padded(int ranks) {
      long multiple = (long) MULTIPLE * ranks;
      long rows = (vocabulary + multiple - 1) / multiple * multiple;
      return new Words(Math.toIntExact(rows), width, positions, segments, norm);
    }

    /** Elements of the matrix between the table's width and the hidden size; 0 where equal. */
    long projection(int hidden) {
      return width == hidden ? 0 : Counts.product(width, hidden);
    }

    @Override
    public long parameters(int hidden) {
      int rows = positions instanceof Positions.Learned learned ? learned.rows() : 0;
      return Counts.sum(
          Counts.product(vocabulary, width),
          projection(hidden),
          Counts.product(hidden, (long) rows + segments),
          norm.map(kind -> kind.parameters(hidden)).orElse(0L));
    }

    @Override
    public double flopsPerToken(int hidden) {
      return 2.0 * projection(hidden);
    }
  }

  /**
   * Square patches of a square image, a learned token before them, learned positions.
   *
   * <p>Source: A. Dosovitskiy et al., ICLR 2021, arXiv:2010.11929, §3.1.
   */
  record Patches(int image, int patch, int channels) implements InputShape {
    public Patches {
      Counts.size("image_size", image);
      Counts.size("patch_size", patch);
      Counts.size("channels", channels);
      Check.that(
          image % patch == 0 && image / patch <= 4096,
          "image_size=%d is no multiple, at most 4096-fold, of patch_size=%d; correct one of them",
          image,
          patch);
    }

    /** The patches and the token before them. */
    public int tokens() {
      return (image / patch) * (image / patch) + 1;
    }

    @Override
    public Positions positions() {
      return new Positions.Learned(tokens());
    }

    private long pixels() {
      return Counts.product(channels, patch, patch);
    }

    @Override
    public long parameters(int hidden) {
      return Counts.product(hidden, Counts.sum(pixels(), 1, 1, tokens()));
    }

    @Override
    public double flopsPerToken(int hidden) {
      return 2.0 * hidden * pixels() * (tokens() - 1) / tokens();
    }
  }

  /** States as they are: of a source that describes blocks alone. */
  record States() implements InputShape {
    @Override
    public Positions positions() {
      return new Positions.Fixed();
    }

    @Override
    public long parameters(int hidden) {
      return 0;
    }

    @Override
    public double flopsPerToken(int hidden) {
      return 0;
    }
  }
}
