package dev.pipewright.zoo;

import dev.pipewright.model.Layer;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Work;
import dev.pipewright.units.Check;
import java.util.Optional;

/**
 * A transformer's block as a layer: attention and perceptron, each with a normalisation and a
 * residual sum. Below, s is the sequence, h the hidden size and a the number of heads; the inner
 * layer of the perceptron is 4h wide.
 *
 * <p>Sources: A. Vaswani et al., NIPS 2017; V. Korthikanti et al., <i>Reducing activation
 * recomputation in large transformer models</i>, MLSys 2023, §4.1 (what a block keeps).
 *
 * <p><b>Kept</b>, in elements: inputs of the query-key-value products (sh), queries and keys (2sh),
 * values (sh), input of the attention's projection (sh), inputs of the two normalisations (2sh),
 * inputs of the two products of the perceptron (sh + 4sh), input of the GELU (4sh), two dropout
 * masks (half an element each: ½sh + ½sh); softmax and its dropout (2as²) and that dropout's mask
 * (½as²). In all 17sh + 2½as²: the paper's 34sh + 5as² bytes at two bytes per element. A mask's
 * byte is half an element in 16 bits; in 32 bits the count is generous by ½sh + ¼as².
 *
 * <p><b>Moved by the forward pass</b>, one kernel per operator: 72sh (query-key-value products with
 * biases 12, transposes of the heads 8, score and value products 4, output projection 4, products
 * of the perceptron with biases 20, GELU 8, dropouts 4, residual sums 6, normalisations 6) and
 * 10as² (scores written; scaled, masked, normalised, dropped out: 2 each; read by the product with
 * the values).
 */
record TransformerBlock(int hidden, int heads, int sequence, Kind kind) {
  /** Whose block it is: all have the same parameters and the same arithmetic. */
  enum Kind {
    BERT,
    GPT,
    VIT
  }

  private static final double MOVED_STATES = 72;
  private static final double MOVED_SCORES = 10;

  TransformerBlock {
    Check.that(
        hidden % heads == 0,
        "the hidden size must be a multiple of the heads: hidden=%d, heads=%d",
        hidden,
        heads);
  }

  /**
   * The block as a layer that hands on {@code boundary}, which holds the states and, where it is
   * wider, a mask.
   */
  Layer layer(String name, Shape boundary) {
    Operator operator =
        new Operator.TransformerBlock(hidden, heads, sequence, kind == Kind.GPT, kind != Kind.BERT);
    long kept = 17 * states() + (5 * scores() + 1) / 2;
    Layer layer =
        new Layer(
            name, operator, Optional.of(boundary), parameters(), boundary.elements(), kept, work());
    int carried = boundary.extent(1) - hidden;
    return carried == 0 ? layer : layer.then(new Operator.Carried(carried));
  }

  /** Four projections and two products of the perceptron with biases, two normalisations. */
  long parameters() {
    return 12L * hidden * hidden + 13L * hidden;
  }

  private Work work() {
    double products = sequence * 24.0 * hidden * hidden;
    double attention = 4.0 * hidden * sequence * sequence; // no weights: its gradients are inputs'
    double moved = MOVED_STATES * states() + MOVED_SCORES * scores();
    return new Work(products + attention, products + 2 * attention, products, moved);
  }

  long states() {
    return (long) sequence * hidden;
  }

  private long scores() {
    return (long) heads * sequence * sequence;
  }
}
