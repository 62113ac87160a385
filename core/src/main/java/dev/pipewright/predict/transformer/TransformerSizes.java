package dev.pipewright.predict.transformer;

import dev.pipewright.model.transformer.AttentionShape;
import dev.pipewright.model.transformer.AttentionShape.Latent;
import dev.pipewright.model.transformer.FeedForwardShape;
import dev.pipewright.model.transformer.FeedForwardShape.Dense;
import dev.pipewright.model.transformer.FeedForwardShape.Mixture;
import dev.pipewright.model.transformer.HeadPart;
import dev.pipewright.model.transformer.InputShape;
import dev.pipewright.model.transformer.InputShape.Positions;
import dev.pipewright.model.transformer.LayerShape;
import dev.pipewright.model.transformer.TokenPrediction;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The sizes of a decoder that the formulas read: all its layers have the same attention, its dense
 * layers the same perceptron, its mixtures the same experts.
 *
 * @param gates 1 where perceptrons are gated, else 0
 * @param dense width of dense perceptrons; 0 where no layer has one
 * @param mixture the mixture of experts; empty where no layer has one
 * @param vocabulary rows of the table of words, padded as the run pads them
 * @param mixturesBefore of the layers before each one, how many are mixtures; one entry more than
 *     layers
 */
record TransformerSizes(
    int layers,
    double hidden,
    double heads,
    AttentionShape attention,
    int gates,
    double dense,
    Optional<Mixture> mixture,
    double vocabulary,
    boolean tied,
    boolean rotary,
    int learnedPositions,
    int predictions,
    List<Integer> mixturesBefore) {
  /** Throws {@link IllegalArgumentException} for networks that the formulas do not cover. */
  static TransformerSizes of(TransformerShape shape) {
    Check.that(
        shape.encoder().isEmpty(),
        "the network has an encoder; give one of a decoder only, or plan it layer by layer with `pipewright plan`");
    AttentionShape attention = shape.stack().blocks().get(0).attention();
    Optional<Dense> dense = Optional.empty();
    Optional<Mixture> mixture = Optional.empty();
    List<Integer> before = new ArrayList<>(List.of(0));
    int mixtures = 0;
    for (LayerShape block : shape.stack().blocks()) {
      Check.that(
          block.attention().equals(attention),
          "layers have different attention; give a network whose layers have the same");
      FeedForwardShape part = block.feedForward();
      if (part instanceof Dense here) {
        dense = Optional.of(same(dense.orElse(here), here));
      } else if (part instanceof Mixture here) {
        mixture = Optional.of(same(mixture.orElse(here), here));
        mixtures++;
      }
      before.add(mixtures);
    }
    Dense perceptron = dense.orElseGet(mixture.map(Mixture::expert)::orElseThrow);
    Check.that(
        shape.input() instanceof InputShape.Words,
        "the network reads no words; give one that does");
    Positions positions = shape.input().positions();
    return new TransformerSizes(
        shape.layers(),
        shape.hidden(),
        attention.heads(),
        attention,
        perceptron.inward() - 1,
        dense.map(Dense::width).orElse(0),
        mixture,
        ((InputShape.Words) shape.input()).vocabulary(),
        shape.head().stream().anyMatch(part -> part instanceof HeadPart.Scores s && s.tied()),
        positions instanceof Positions.Rotary,
        positions instanceof Positions.Learned learned ? learned.rows() : 0,
        shape.prediction().map(TokenPrediction::depth).orElse(0),
        List.copyOf(before));
  }

  private static <T> T same(T first, T here) {
    Check.that(
        first.equals(here),
        "layers have perceptrons of different widths; give a network whose layers have the same");
    return here;
  }

  /** Mixtures among layers {@code from} to before {@code to}. */
  int mixtures(int from, int to) {
    return mixturesBefore.get(Math.min(to, layers)) - mixturesBefore.get(Math.min(from, layers));
  }

  boolean hasDense() {
    return mixturesBefore.get(layers) < layers;
  }

  boolean hasMixtures() {
    return mixture.isPresent();
  }

  /** Experts of a mixture; 0 without one. */
  double experts() {
    return mixture.map(Mixture::experts).orElse(0);
  }

  /** Experts of a token. */
  double chosen() {
    return mixture.map(Mixture::chosen).orElse(0);
  }

  /** Width of an expert. */
  double expertWidth() {
    return mixture.map(m -> m.expert().width()).orElse(0);
  }

  /** Width of what all tokens of a mixture pass; 0 without it. */
  double sharedWidth() {
    return mixture.flatMap(Mixture::shared).map(Dense::width).orElse(0);
  }

  /** Features of a query, over all heads. */
  double queryWidth() {
    return attention instanceof Latent latent
        ? heads * (latent.plainWidth() + latent.rotaryWidth())
        : heads * headWidth();
  }

  /** Features of a head's value. */
  double valueWidth() {
    return attention instanceof Latent latent ? latent.valueWidth() : headWidth();
  }

  /** Features of a head's query and key. */
  double keyWidth() {
    return queryWidth() / heads;
  }

  /**
   * Features of a token's keys and values on one of so many tensor-parallel ranks; of latent
   * attention those of all heads, which attention meets.
   */
  double keyValueWidth(double tensor) {
    double shared =
        attention instanceof AttentionShape.GroupedQuery grouped ? grouped.keyValueHeads() : heads;
    return Math.max(shared / tensor, 1) * (keyWidth() + valueWidth());
  }

  private double headWidth() {
    return ((AttentionShape.GroupedQuery) attention).headWidth();
  }
}
