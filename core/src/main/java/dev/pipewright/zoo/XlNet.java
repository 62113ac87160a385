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
 * XLNet-large with another number of blocks, fine-tuned: one stream, 512 tokens. Below, s is the
 * sequence, h the hidden size and a the number of heads.
 *
 * <p>Sources: Z. Yang et al., <i>XLNet</i>, NeurIPS 2019, §2 and Table 8; Z. Dai et al.,
 * <i>Transformer-XL</i>, ACL 2019, §3.3 (relative positions). DAPPLE's Table I has 4.2 MB for a
 * sample's boundary there and back: 2 · 512 · 1024 · 4 bytes.
 *
 * <p>A block projects queries, keys, values, output and 2s relative positions without biases (five
 * h × h matrices), has three query biases and two segment vectors, and scores each pair by content,
 * by position (over 2s, then shifted) and by segment.
 *
 * <p><b>Kept by a block</b>, counted as in {@link Transformer}: input, keys, values (3sh), queries
 * with two biases (2sh), projected positions (2sh), input of the output projection (sh), inputs of
 * two normalisations (2sh), perceptron (sh + 4sh + 4sh), masks (sh); softmax, dropout, mask
 * (2½as²): 20sh + 2½as².
 *
 * <p><b>Moved</b>: as a transformer block's 72sh plus 12sh for positions and biases; 34as², because
 * every contraction writes its result in another order than the next reads it (8), the position
 * scores are twice as wide and shifted (8), three scores are summed (6), then scaled, masked,
 * normalised and dropped out (11) and read (1).
 */
final class XlNet {
  private static final int HIDDEN = 1024;
  private static final int HEADS = 16;
  private static final int SEQUENCE = 512;
  private static final int VOCABULARY = 32_000;
  private static final long STATES = (long) SEQUENCE * HIDDEN;
  private static final long SCORES = (long) HEADS * SEQUENCE * SEQUENCE;

  private XlNet() {}

  static LayerGraph xlnet36() {
    int blocks = 36;
    Optional<Shape> boundary = Optional.of(Shape.of(SEQUENCE, HIDDEN));
    Operator operator = new Operator.Block("transformer block");
    List<Layer> layers = new ArrayList<>(blocks + 2);
    layers.add(embedding(boundary));
    for (int i = 1; i <= blocks; i++) {
      long kept = 20 * STATES + 5 * SCORES / 2;
      layers.add(
          new Layer(
              "block-" + i, operator, boundary, blockParameters(), STATES, kept, blockWork()));
    }
    layers.add(answer());
    return LayerGraph.chain("xlnet-36", layers);
  }

  /** Token vectors and the vector of a masked token; positions are not learned. */
  private static Layer embedding(Optional<Shape> boundary) {
    long parameters = (VOCABULARY + 1L) * HIDDEN;
    Work work = new Work(0, 0, STATES, 5.0 * STATES);
    Operator operator = new Operator.Embedding(VOCABULARY, HIDDEN);
    return new Layer("embedding", operator, boundary, parameters, STATES, STATES / 2, work);
  }

  private static long blockParameters() {
    return 13L * HIDDEN * HIDDEN + 14L * HIDDEN;
  }

  private static Work blockWork() {
    double square = (double) HIDDEN * HIDDEN;
    double products = SEQUENCE * 28 * square; // 4 projections, positions twice, perceptron 8
    double attention = 8.0 * HIDDEN * SEQUENCE * SEQUENCE; // content 2, positions 4, values 2
    double moved = 84.0 * STATES + 34.0 * SCORES;
    return new Work(products + attention, products + 2 * attention, products, moved);
  }

  /** The begin and end of an answer: two scores per token. */
  private static Layer answer() {
    long logits = 2L * SEQUENCE;
    double flop = 2.0 * HIDDEN * logits;
    Work work = new Work(flop, flop, flop, STATES + 5.0 * logits);
    Optional<Shape> shape = Optional.of(Shape.of(SEQUENCE, 2));
    Operator operator = new Operator.Linear(HIDDEN, 2, true);
    return new Layer("answer", operator, shape, 2L * HIDDEN + 2, logits, logits, work);
  }
}
