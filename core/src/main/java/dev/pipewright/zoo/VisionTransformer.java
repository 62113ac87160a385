package dev.pipewright.zoo;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Work;
import dev.pipewright.units.Check;
import java.util.List;
import java.util.Optional;

/**
 * ViT: an image cut in square patches, each a token; a class token, learned positions, blocks, a
 * last normalisation and the classifier over the class token.
 *
 * <p>Source: A. Dosovitskiy et al., <i>An image is worth 16 × 16 words</i>, ICLR 2021,
 * arXiv:2010.11929, §3.1 and Table 1; PyTorch's torchvision has the same parameters.
 *
 * <p>A sample of ViT-B/16 is a 224 × 224 image: 14 × 14 patches and the class token. The product
 * that embeds a patch is a convolution whose window moves by its own size. Blocks keep and move
 * what those of a language model do, dropout included.
 */
record VisionTransformer(int layers, int hidden, int heads, int patch, int size, int classes) {
  VisionTransformer {
    Check.that(
        size % patch == 0,
        "the image must be a multiple of the patch: size=%d, patch=%d",
        size,
        patch);
  }

  static VisionTransformer base16() {
    return new VisionTransformer(12, 768, 12, 16, 224, 1000);
  }

  LayerGraph graph(String name) {
    Blueprint network = Blueprint.of(FeatureMap.square(3, size));
    TransformerBlock block =
        new TransformerBlock(hidden, heads, tokens(), TransformerBlock.Kind.VIT);
    Window window = Window.square(patch).every(patch);
    int last = network.convolutionWithBias("patches", 0, hidden, window);
    last = network.add(sequence(), last);
    for (int i = 1; i <= layers; i++) {
      last = network.add(block.layer("block-" + i, Shape.of(tokens(), hidden)), last);
    }
    last = network.add(normalization(), last);
    network.add(FeatureMap.features(hidden).fullyConnected("head", classes), last);
    return network.graph(name);
  }

  private int tokens() {
    return (size / patch) * (size / patch) + 1;
  }

  private long states() {
    return (long) tokens() * hidden;
  }

  /** The patches in a row behind the class token, plus positions; half an element for a mask. */
  private Layer sequence() {
    Operator operator = new Operator.Embedding(tokens(), hidden);
    double states = states();
    Work work = new Work(states, 0, states, 7 * states); // transposed, joined, summed, dropped
    return layer("tokens", operator, states() + hidden, states() / 2, work)
        .computing(
            List.of(new Operator.ClassToken(hidden), new Operator.Positions(tokens(), hidden)));
  }

  private Layer normalization() {
    Operator operator = new Operator.Normalization(Operator.Normalization.Kind.LAYER, hidden);
    double states = states();
    Work work = new Work(5 * states, 8 * states, 2 * states, 3 * states);
    return layer("normalization", operator, 2L * hidden, states() + 2L * tokens(), work);
  }

  private Layer layer(String name, Operator operator, long parameters, long kept, Work work) {
    Optional<Shape> shape = Optional.of(Shape.of(tokens(), hidden));
    return new Layer(name, operator, shape, parameters, states(), kept, work);
  }
}
