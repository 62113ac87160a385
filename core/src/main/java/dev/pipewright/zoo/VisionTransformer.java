package dev.pipewright.zoo;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Work;
import java.util.Optional;

/**
 * ViT-B/16: an image cut in patches of 16 × 16, each a token; a class token, learned positions,
 * twelve blocks, a last normalisation and the classifier over the class token.
 *
 * <p>Source: A. Dosovitskiy et al., <i>An image is worth 16 × 16 words</i>, ICLR 2021,
 * arXiv:2010.11929, §3.1 and Table 1; PyTorch's torchvision has the same parameters.
 *
 * <p>A sample is a 224 × 224 image: 14 × 14 patches and the class token. The product that embeds a
 * patch is a convolution whose window moves by its own size. Blocks keep and move what those of a
 * language model do, dropout included.
 */
final class VisionTransformer {
  private static final int CLASSES = 1000;
  private static final int LAYERS = 12;
  private static final int HIDDEN = 768;
  private static final int HEADS = 12;
  private static final int TOKENS = 14 * 14 + 1;
  private static final long STATES = (long) TOKENS * HIDDEN;

  private VisionTransformer() {}

  static LayerGraph base16() {
    Blueprint network = Blueprint.of(FeatureMap.square(3, 224));
    TransformerBlock block = new TransformerBlock(HIDDEN, HEADS, TOKENS);
    int last = network.convolutionWithBias("patches", 0, HIDDEN, Window.square(16).every(16));
    last = network.add(tokens(), last);
    for (int i = 1; i <= LAYERS; i++) {
      last = network.add(block.layer("block-" + i, Shape.of(TOKENS, HIDDEN)), last);
    }
    last = network.add(normalization(), last);
    network.add(head(), last);
    return network.graph("vit-b-16");
  }

  /** The patches in a row behind the class token, plus positions; half an element for a mask. */
  private static Layer tokens() {
    Operator operator = new Operator.Embedding(TOKENS, HIDDEN);
    Work work = new Work(STATES, 0, STATES, 7.0 * STATES); // transposed, joined, summed, dropped
    return layer("tokens", operator, STATES + HIDDEN, STATES / 2, work);
  }

  private static Layer normalization() {
    Operator operator = new Operator.Normalization(Operator.Normalization.Kind.LAYER, HIDDEN);
    Work work = new Work(5.0 * STATES, 8.0 * STATES, 2.0 * STATES, 3.0 * STATES);
    return layer("normalization", operator, 2L * HIDDEN, STATES + 2L * TOKENS, work);
  }

  private static Layer layer(
      String name, Operator operator, long parameters, long kept, Work work) {
    Optional<Shape> shape = Optional.of(Shape.of(TOKENS, HIDDEN));
    return new Layer(name, operator, shape, parameters, STATES, kept, work);
  }

  private static Layer head() {
    return FeatureMap.features(HIDDEN).fullyConnected("head", CLASSES);
  }
}
