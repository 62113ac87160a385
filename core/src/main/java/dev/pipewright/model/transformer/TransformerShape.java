package dev.pipewright.model.transformer;

import dev.pipewright.units.Check;
import java.util.List;
import java.util.Optional;

/**
 * A transformer: what its parameters and its arithmetic follow from. Counts are of elements and
 * exact. FLOP count two for each multiplication of a matrix product, and nothing for element-wise
 * work; of attention's scores they count those that the mask keeps.
 *
 * @param hidden features of a token between blocks
 * @param input from samples to states
 * @param encoder the first stack of an encoder–decoder network, with the same input; empty for
 *     others
 * @param stack the blocks; those of the decoder where there is an encoder
 * @param head from the last states to what is predicted, in order; may be empty
 * @param prediction multi-token prediction, which {@link #parameters} leaves out
 * @param sequence tokens of a sample: as trained where the source says, otherwise the most that its
 *     positions allow
 */
public record TransformerShape(
    int hidden,
    InputShape input,
    Optional<StackShape> encoder,
    StackShape stack,
    List<HeadPart> head,
    Optional<TokenPrediction> prediction,
    int sequence) {
  /** Tokens of the longest sample. */
  public static final int MOST_TOKENS = 1 << 28;

  /** A pass backward multiplies twice for each product of the forward pass. */
  private static final int PASSES = 3;

  private static final int USUAL_SEQUENCE = 4096;

  private static final int MOST_TRAINED = 8192; // at once, from the beginning

  /** Throws {@link IllegalArgumentException} where the parts do not go together. */
  public TransformerShape {
    head = List.copyOf(head);
    Counts.size("hidden", hidden);
    Check.that(
        sequence >= 1 && sequence <= MOST_TOKENS,
        "sequence=%d is out of range; write 1 to %d",
        sequence,
        MOST_TOKENS);
    boolean crosses = stack.blocks().stream().anyMatch(LayerShape::crossAttention);
    Check.that(
        crosses == encoder.isPresent(),
        "cross-attention and an encoder need each other: encoder=%s, cross_attention=%s",
        encoder.isPresent(),
        crosses);
    try {
      Counts.sum(
          parameters(hidden, input, encoder, stack, head),
          prediction.map(extra -> extra.parameters(hidden)).orElse(0L));
    } catch (ArithmeticException e) {
      throw new IllegalArgumentException(
          "the network has more than 9e18 parameters; correct its sizes", e);
    }
  }

  /** A network of one stack without multi-token prediction. */
  public static TransformerShape of(
      int hidden, InputShape input, StackShape stack, List<HeadPart> head, int sequence) {
    return new TransformerShape(
        hidden, input, Optional.empty(), stack, head, Optional.empty(), sequence);
  }

  /** The same for samples of another length. */
  public TransformerShape withSequence(int tokens) {
    return new TransformerShape(hidden, input, encoder, stack, head, prediction, tokens);
  }

  /**
   * The same network on samples of so many tokens.
   *
   * @throws IllegalArgumentException where it reads no tokens, or learned fewer positions
   */
  public TransformerShape reading(int tokens) {
    if (!(input instanceof InputShape.Words words)) {
      throw new IllegalArgumentException(
          "its samples are images, which have no length to choose; leave it out");
    }
    if (words.positions() instanceof InputShape.Positions.Learned learned) {
      Check.that(
          tokens <= learned.rows(),
          "it learns %d positions, which are too few for %d tokens; give at most %d",
          learned.rows(),
          tokens,
          learned.rows());
    }
    return withSequence(tokens);
  }

  /** The same with another input. */
  public TransformerShape withInput(InputShape other) {
    return new TransformerShape(hidden, other, encoder, stack, head, prediction, sequence);
  }

  /**
   * Tokens of a sample where the user says nothing: all that the network takes up to 8,192, and
   * 4,096 of those that take more.
   */
  public int usualSequence() {
    return sequence <= MOST_TRAINED ? sequence : USUAL_SEQUENCE;
  }

  /** Blocks of all stacks, without those of multi-token prediction. */
  public int layers() {
    return stack.size() + encoder.map(StackShape::size).orElse(0);
  }

  /** Elements learned, without those of multi-token prediction. */
  public long parameters() {
    return parameters(hidden, input, encoder, stack, head);
  }

  private static long parameters(
      int hidden,
      InputShape input,
      Optional<StackShape> encoder,
      StackShape stack,
      List<HeadPart> head) {
    return Counts.sum(
        ends(hidden, input, encoder, stack, head),
        stack.parameters(hidden),
        encoder.map(first -> first.parameters(hidden)).orElse(0L));
  }

  /** Those that take part in a token's output: of the routed experts only the chosen ones. */
  public long activeParameters() {
    return Counts.sum(
        ends(hidden, input, encoder, stack, head),
        stack.activeParameters(hidden),
        encoder.map(first -> first.activeParameters(hidden)).orElse(0L));
  }

  private static long ends(
      int hidden,
      InputShape input,
      Optional<StackShape> encoder,
      StackShape stack,
      List<HeadPart> head) {
    long sum = Counts.sum(input.parameters(hidden), distances(input, stack));
    sum = Counts.sum(sum, encoder.map(first -> distances(input, first)).orElse(0L));
    for (HeadPart part : head) {
      sum = Counts.sum(sum, part.parameters(hidden, input));
    }
    return sum;
  }

  /** Learned scores of distances, which belong to a stack's first block. */
  private static long distances(InputShape input, StackShape stack) {
    return input.positions() instanceof InputShape.Positions.Relative relative
        ? Counts.product(relative.buckets(), stack.blocks().get(0).attention().heads())
        : 0;
  }

  /** Elements learned by the input: tables of words, positions and segments, or patches. */
  public long inputParameters() {
    return input.parameters(hidden);
  }

  /** Elements learned by the head, without a tied table. */
  public long headParameters() {
    long sum = 0;
    for (HeadPart part : head) {
      sum = Counts.sum(sum, part.parameters(hidden, input));
    }
    return sum;
  }

  /** Elements learned by multi-token prediction; 0 where there is none. */
  public long predictionParameters() {
    return prediction.map(extra -> extra.parameters(hidden)).orElse(0L);
  }

  /**
   * FLOP of the forward pass for one token of a sequence of {@code tokens} tokens, without
   * multi-token prediction. With an encoder: for a token of each, both sequences being as long.
   */
  public double forwardFlopsPerToken(int tokens) {
    double sum =
        input.flopsPerToken(hidden)
            + stack.flopsPerToken(hidden, tokens)
            + encoder.map(first -> first.flopsPerToken(hidden, tokens)).orElse(0.0);
    for (HeadPart part : head) {
      sum += part.flopsPerToken(hidden, input, tokens);
    }
    return sum;
  }

  /** FLOP of a training step for one token: the backward pass takes twice the forward pass. */
  public double flopsPerToken(int tokens) {
    return PASSES * forwardFlopsPerToken(tokens);
  }
}
