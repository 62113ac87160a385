package dev.pipewright.zoo;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Work;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Stacks of equal transformer blocks ({@link TransformerBlock}): BERT and GPT.
 *
 * <p>Sources: J. Devlin et al., <i>BERT</i>, NAACL 2019; A. Radford et al., <i>GPT-2</i>, 2019.
 */
record Transformer(int layers, TransformerBlock block, int vocabulary) {
  private static final String EMBEDDING = "embedding";

  /** BERT of any shape. */
  static Transformer bert(int layers, int hidden, int heads, int sequence, int vocabulary) {
    var block = new TransformerBlock(hidden, heads, sequence, TransformerBlock.Kind.BERT);
    return new Transformer(layers, block, vocabulary);
  }

  /** GPT of any shape. */
  static Transformer gpt(int layers, int hidden, int heads, int sequence, int vocabulary) {
    var block = new TransformerBlock(hidden, heads, sequence, TransformerBlock.Kind.GPT);
    return new Transformer(layers, block, vocabulary);
  }

  /**
   * BERT-large with another number of layers, for SQuAD: 384 tokens.
   *
   * <p>DAPPLE's profile of BERT-48 does not state its sequence. It follows from the sizes at two
   * samples: 9,216 bytes of 32-bit token numbers are three inputs of 384, and a boundary of
   * 4,325,376 bytes is the states (2·384·1024) and the attention mask (2·384·384) in 32 bits.
   */
  static Transformer bertLarge(int layers) {
    return bert(layers, 1024, 16, 384, 30_522);
  }

  /** BERT of any shape with 512 tokens, as many as it has positions. */
  static Transformer bert(int layers, int hidden, int heads) {
    return bert(layers, hidden, heads, 512, 30_522);
  }

  /** GPT-2 of any shape with all of its 1,024 positions. */
  static Transformer gpt2(int layers, int hidden, int heads) {
    return gpt(layers, hidden, heads, 1024, 50_257);
  }

  /**
   * Embedding (tokens, 512 positions or more, two segments, normalisation), blocks, pooler over the
   * first token. A boundary is sequence × hidden.
   */
  LayerGraph bert(String name) {
    return bert(name, Shape.of(sequence(), hidden()));
  }

  /**
   * The same; the attention mask travels from block to block beside the states: a boundary is
   * sequence × (hidden + sequence).
   */
  LayerGraph bertWithMask(String name) {
    return bert(name, Shape.of(sequence(), hidden() + sequence()));
  }

  private LayerGraph bert(String name, Shape boundary) {
    int positions = Math.max(512, sequence());
    long rows = (long) vocabulary + positions + 2;
    List<Layer> stack = new ArrayList<>(layers + 2);
    Layer embedding =
        embedding((rows + 2) * hidden(), boundary)
            .then(new Operator.Positions(positions, hidden()))
            .then(new Operator.Segments(2, hidden()))
            .then(normalization());
    boolean masked = boundary.extent(1) > hidden();
    stack.add(masked ? embedding.then(new Operator.Mask(sequence())) : embedding);
    addBlocks(stack, boundary);
    double flop = 2.0 * hidden() * hidden();
    stack.add(
        new Layer(
                "pooler",
                new Operator.Linear(hidden(), hidden(), true),
                Optional.of(Shape.of(hidden())),
                (hidden() + 1L) * hidden(),
                hidden(),
                2L * hidden(),
                new Work(flop, flop, flop, 6.0 * hidden()))
            .then(new Operator.Elementwise("tanh")));
    return LayerGraph.chain(name, stack);
  }

  /**
   * Embedding (tokens, one position per token of the sequence), blocks, and the head: a last
   * normalisation and the product with the embedding's weights, which are counted once, with the
   * embedding. The causal mask is no input.
   */
  LayerGraph gpt(String name) {
    Layer head = head(new Operator.Linear(hidden(), vocabulary, false), 0);
    return gpt(name, head.computing(List.of(normalization(), new Operator.TiedScores(EMBEDDING))));
  }

  /** The same with a product of its own, with biases, in the head. */
  LayerGraph gptWithOwnHead(String name) {
    Operator product = new Operator.Linear(hidden(), vocabulary, true);
    Layer head = head(product, (hidden() + 1L) * vocabulary);
    return gpt(name, head.computing(List.of(normalization(), product)));
  }

  private LayerGraph gpt(String name, Layer head) {
    Shape boundary = Shape.of(sequence(), hidden());
    List<Layer> stack = new ArrayList<>(layers + 2);
    stack.add(
        embedding(((long) vocabulary + sequence()) * hidden(), boundary)
            .then(new Operator.Positions(sequence(), hidden())));
    addBlocks(stack, boundary);
    stack.add(head);
    return LayerGraph.chain(name, stack);
  }

  private Layer head(Operator product, long parameters) {
    long logits = (long) sequence() * vocabulary;
    double flop = 2.0 * hidden() * logits;
    Work work = new Work(flop, flop, flop, 5.0 * block.states() + 3.0 * logits);
    Optional<Shape> shape = Optional.of(Shape.of(sequence(), vocabulary));
    long kept = 2 * block.states() + logits; // inputs of normalisation and product, and the softmax
    return new Layer("head", product, shape, 2L * hidden() + parameters, logits, kept, work);
  }

  private Operator normalization() {
    return new Operator.Normalization(Operator.Normalization.Kind.LAYER, hidden());
  }

  private Layer embedding(long parameters, Shape boundary) {
    long states = block.states();
    double adds = 4.0 * states; // looked up, summed, normalised, dropped
    Work work = new Work(adds, adds, states, 12.0 * states);
    Operator operator = new Operator.Embedding(vocabulary, hidden());
    long kept = states + states / 2; // input of the normalisation, dropout mask
    return new Layer(
        EMBEDDING, operator, Optional.of(boundary), parameters, boundary.elements(), kept, work);
  }

  private void addBlocks(List<Layer> stack, Shape boundary) {
    for (int i = 1; i <= layers; i++) {
      stack.add(block.layer("block-" + i, boundary));
    }
  }

  private int hidden() {
    return block.hidden();
  }

  private int sequence() {
    return block.sequence();
  }
}
