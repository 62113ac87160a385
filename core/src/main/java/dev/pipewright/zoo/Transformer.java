package dev.pipewright.zoo;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Work;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Stacks of equal transformer blocks: BERT and GPT. Below, s is the sequence, h the hidden size and
 * a the number of heads; the inner layer of the perceptron is 4h wide.
 *
 * <p>Sources: A. Vaswani et al., NIPS 2017; J. Devlin et al., <i>BERT</i>, NAACL 2019; A. Radford
 * et al., <i>GPT-2</i>, 2019; V. Korthikanti et al., <i>Reducing activation recomputation in large
 * transformer models</i>, MLSys 2023, §4.1 (what a block keeps).
 *
 * <p><b>Kept by a block</b>, in elements: inputs of the query-key-value products (sh), queries and
 * keys (2sh), values (sh), input of the attention's projection (sh), inputs of the two
 * normalisations (2sh), inputs of the two products of the perceptron (sh + 4sh), input of the GELU
 * (4sh), two dropout masks (half an element each: ½sh + ½sh); softmax and its dropout (2as²) and
 * that dropout's mask (½as²). In all 17sh + 2½as²: the paper's 34sh + 5as² bytes at two bytes per
 * element. A mask's byte is half an element in 16 bits; in 32 bits the count is generous by ½sh +
 * ¼as².
 *
 * <p><b>Moved by a block's forward pass</b>, one kernel per operator: 72sh (query-key-value
 * products with biases 12, transposes of the heads 8, score and value products 4, output projection
 * 4, products of the perceptron with biases 20, GELU 8, dropouts 4, residual sums 6, normalisations
 * 6) and 10as² (scores written; scaled, masked, normalised, dropped out: 2 each; read by the
 * product with the values).
 *
 * @param sequence tokens of a sample
 */
record Transformer(int layers, int hidden, int heads, int sequence, int vocabulary) {
  private static final double MOVED_STATES = 72;
  private static final double MOVED_SCORES = 10;

  Transformer {
    Check.that(
        hidden % heads == 0,
        "the hidden size must be a multiple of the heads: hidden=%d, heads=%d",
        hidden,
        heads);
  }

  /**
   * BERT-large with another number of layers, for SQuAD: 384 tokens.
   *
   * <p>DAPPLE's profile of BERT-48 does not state its sequence. It follows from the sizes at two
   * samples: 9,216 bytes of 32-bit token numbers are three inputs of 384, and a boundary of
   * 4,325,376 bytes is the states (2·384·1024) and the attention mask (2·384·384) in 32 bits.
   */
  static Transformer bertLarge(int layers) {
    return new Transformer(layers, 1024, 16, 384, 30_522);
  }

  /**
   * Embedding (tokens, 512 positions or more, two segments, normalisation), blocks, pooler over the
   * first token. The attention mask travels from block to block beside the states: a boundary is
   * sequence × (hidden + sequence).
   */
  LayerGraph bert(String name) {
    long rows = (long) vocabulary + Math.max(512, sequence) + 2;
    Shape boundary = Shape.of(sequence, hidden + sequence);
    List<Layer> stack = new ArrayList<>(layers + 2);
    stack.add(embedding(rows * hidden + 2L * hidden, boundary));
    addBlocks(stack, boundary);
    Work pooling = new Work(square(2), square(2), square(2), 6.0 * hidden);
    stack.add(
        new Layer(
            "pooler",
            new Operator.Linear(hidden, hidden, true),
            Optional.of(Shape.of(hidden)),
            (hidden + 1L) * hidden,
            hidden,
            2L * hidden,
            pooling));
    return LayerGraph.chain(name, stack);
  }

  /**
   * Embedding (tokens, one position per token of the sequence), blocks, and the head: a last
   * normalisation and the product with the embedding's weights, which are counted once, with the
   * embedding. The causal mask is no input.
   */
  LayerGraph gpt(String name) {
    Shape boundary = Shape.of(sequence, hidden);
    List<Layer> stack = new ArrayList<>(layers + 2);
    stack.add(embedding(((long) vocabulary + sequence) * hidden, boundary));
    addBlocks(stack, boundary);
    long logits = (long) sequence * vocabulary;
    double flop = 2.0 * hidden * logits;
    Work work = new Work(flop, flop, flop, 5.0 * states() + 3.0 * logits);
    Operator head = new Operator.Linear(hidden, vocabulary, false);
    Optional<Shape> shape = Optional.of(Shape.of(sequence, vocabulary));
    long kept = 2 * states() + logits; // inputs of normalisation and product, and the softmax
    stack.add(new Layer("head", head, shape, 2L * hidden, logits, kept, work));
    return LayerGraph.chain(name, stack);
  }

  private Layer embedding(long parameters, Shape boundary) {
    double adds = 4.0 * states();
    Work work =
        new Work(adds, adds, states(), 12.0 * states()); // look-ups, sums, normalised, dropped
    Operator operator = new Operator.Embedding(vocabulary, hidden);
    long kept = states() + states() / 2; // input of the normalisation, dropout mask
    return new Layer(
        "embedding", operator, Optional.of(boundary), parameters, boundary.elements(), kept, work);
  }

  private void addBlocks(List<Layer> stack, Shape boundary) {
    Operator operator = new Operator.Block("transformer block");
    Optional<Shape> shape = Optional.of(boundary);
    for (int i = 1; i <= layers; i++) {
      stack.add(
          new Layer(
              "block-" + i,
              operator,
              shape,
              blockParameters(),
              boundary.elements(),
              17 * states() + (5 * scores() + 1) / 2,
              blockWork()));
    }
  }

  /** Four projections and two products of the perceptron with biases, two normalisations. */
  private long blockParameters() {
    return 12L * hidden * hidden + 13L * hidden;
  }

  private Work blockWork() {
    double products = sequence * square(24);
    double attention = 4.0 * hidden * sequence * sequence; // no weights: its gradients are inputs'
    double moved = MOVED_STATES * states() + MOVED_SCORES * scores();
    return new Work(products + attention, products + 2 * attention, products, moved);
  }

  private double square(double factor) {
    return factor * hidden * hidden;
  }

  private long states() {
    return (long) sequence * hidden;
  }

  private long scores() {
    return (long) heads * sequence * sequence;
  }
}
