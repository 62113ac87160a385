package dev.pipewright.parallel;

import dev.pipewright.model.Layer;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import java.util.Optional;

/**
 * The dimensions by which tensor parallelism divides a transformer block or an attention.
 *
 * @param sequence tokens of a sample
 * @param hidden features of a token's state
 * @param heads into as many parts the block can be divided at most
 * @param products pairs of matrix products, column-parallel and row-parallel: attention and MLP
 */
public record BlockShape(int sequence, int hidden, int heads, int products) {
  /** Of a block of which only sizes are known. */
  private static final String DESCRIBED = "transformer block";

  /** Elements of a sample's states. */
  public long states() {
    return (long) sequence * hidden;
  }

  /** Of the first block or attention among the layer's operators. */
  public static Optional<BlockShape> of(Layer layer) {
    return layer.steps().stream().flatMap(step -> of(layer, step).stream()).findFirst();
  }

  /** Of an operator of a layer. */
  public static Optional<BlockShape> of(Layer layer, Operator step) {
    return switch (step) {
      case Operator.TransformerBlock b ->
          Optional.of(new BlockShape(b.sequence(), b.hidden(), b.heads(), 2));
      case Operator.ShapedBlock b ->
          Optional.of(new BlockShape(b.sequence(), b.hidden(), b.shape().attention().heads(), 2));
      case Operator.Attention a ->
          Optional.of(new BlockShape(a.sequence(), a.hidden(), a.heads(), 1));
      case Operator.Block b when b.kind().equals(DESCRIBED) -> described(layer);
      default -> Optional.empty();
    };
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
    return hidden > 0 ? Optional.of(new BlockShape(sequence, hidden, hidden, 2)) : Optional.empty();
  }
}
