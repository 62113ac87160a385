package dev.pipewright.parallel;

import dev.pipewright.model.Layer;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import dev.pipewright.model.transformer.AttentionShape;
import java.util.Optional;

/**
 * The dimensions by which a transformer block or an attention is divided.
 *
 * @param sequence tokens of a sample
 * @param hidden features of a token's state
 * @param heads into as many parts the block can be divided at most
 * @param products pairs of matrix products, column-parallel and row-parallel: attentions and MLP
 * @param keysAndValues features of a token that attention reads of all others: keys and values, or
 *     the short vectors that latent attention makes them of
 * @param keyHeads heads that have keys and values of their own; 1 where all make them of the same
 */
public record BlockShape(
    int sequence, int hidden, int heads, int products, int keysAndValues, int keyHeads) {
  /** Of a block of which only sizes are known. */
  private static final String DESCRIBED = "transformer block";

  /** Elements of a sample's states. */
  public long states() {
    return (long) sequence * hidden;
  }

  /** Of {@link #keysAndValues} what one of so many workers reads that divide the heads, at most. */
  public int keysAndValues(int parts) {
    return keysAndValues / keyHeads * Math.ceilDiv(keyHeads, parts);
  }

  /** Of the first block or attention among the layer's operators. */
  public static Optional<BlockShape> of(Layer layer) {
    return layer.steps().stream().flatMap(step -> of(layer, step).stream()).findFirst();
  }

  /** Of an operator of a layer. */
  public static Optional<BlockShape> of(Layer layer, Operator step) {
    return switch (step) {
      case Operator.TransformerBlock b ->
          Optional.of(uniform(b.sequence(), b.hidden(), b.heads(), 2));
      case Operator.ShapedBlock b -> Optional.of(shaped(b));
      case Operator.Attention a -> Optional.of(uniform(a.sequence(), a.hidden(), a.heads(), 1));
      case Operator.Block b when b.kind().equals(DESCRIBED) -> described(layer);
      default -> Optional.empty();
    };
  }

  /** Each head has keys and values of its own. */
  private static BlockShape uniform(int sequence, int hidden, int heads, int products) {
    return new BlockShape(sequence, hidden, heads, products, 2 * hidden, heads);
  }

  private static BlockShape shaped(Operator.ShapedBlock block) {
    AttentionShape attention = block.shape().attention();
    long read =
        switch (attention) {
          case AttentionShape.GroupedQuery grouped -> 2 * grouped.keyWidth();
          case AttentionShape.Latent latent -> (long) latent.keyValueRank() + latent.rotaryWidth();
        };
    int keyHeads =
        attention instanceof AttentionShape.GroupedQuery grouped ? grouped.keyValueHeads() : 1;
    return new BlockShape(
        block.sequence(),
        block.hidden(),
        attention.heads(),
        1 + block.shape().attentions(),
        Math.toIntExact(block.shape().attentions() * read),
        keyHeads);
  }

  /**
   * Its boundary is sequence × hidden, or where a mask travels along sequence × (hidden +
   * sequence). It can be divided by features, as the heads are unknown.
   */
  private static Optional<BlockShape> described(Layer layer) {
    Optional<Shape> boundary = layer.output().filter(shape -> shape.extents().size() == 2);
    if (boundary.isEmpty() || layer.keptElements() == 0) {
      return Optional.empty();
    }
    int sequence = boundary.get().extent(0);
    int width = boundary.get().extent(1);
    boolean masked = layer.parameters() < 12.0 * width * width;
    int hidden = masked ? width - sequence : width;
    return hidden > 0 ? Optional.of(uniform(sequence, hidden, hidden, 2)) : Optional.empty();
  }
}
