package dev.pipewright.runtime.net;

import dev.pipewright.model.Operator;
import dev.pipewright.model.transformer.AttentionShape.GroupedQuery;
import dev.pipewright.model.transformer.AttentionShape.QueryKeyNorm;
import dev.pipewright.model.transformer.AttentionSpan;
import dev.pipewright.model.transformer.FeedForwardShape;
import dev.pipewright.model.transformer.FeedForwardShape.Dense;
import dev.pipewright.model.transformer.FeedForwardShape.Mixture;
import dev.pipewright.model.transformer.InputShape.Positions;
import dev.pipewright.model.transformer.LayerShape;
import dev.pipewright.model.transformer.NormShape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Transformer blocks of tiny sizes and every shape that the runtime computes. */
final class ShapedBlocks {
  static final Dense GATED = new Dense(6, true, false);
  static final Mixture MIXTURE = new Mixture(4, 2, GATED, false, Optional.empty(), false);
  static final Mixture SHARED =
      new Mixture(3, 1, new Dense(5, false, false), true, Optional.of(GATED), true);

  private ShapedBlocks() {}

  /** Llama's. */
  static Operator.ShapedBlock llama(int hidden, int sequence) {
    return block(hidden, sequence, plain(), GATED, NormShape.RMS, 2, true);
  }

  /** Mixtral's. */
  static Operator.ShapedBlock mixtral(int hidden, int sequence) {
    return block(hidden, sequence, plain(), MIXTURE, NormShape.RMS, 2, true);
  }

  /** Four heads of two features and two keys. */
  private static GroupedQuery plain() {
    return GroupedQuery.plain(4, 2, 2);
  }

  static List<Operator.ShapedBlock> all(int hidden, int sequence) {
    List<Operator.ShapedBlock> blocks = new ArrayList<>();
    blocks.add(llama(hidden, sequence));
    blocks.add(mixtral(hidden, sequence));
    int number = 0;
    for (QueryKeyNorm norm : QueryKeyNorm.values()) {
      GroupedQuery attention = new GroupedQuery(4, 2, 4, true, true, norm, false);
      Dense dense = new Dense(7, number % 2 == 0, true);
      NormShape kind = List.of(NormShape.LAYER, NormShape.RMS, NormShape.PLAIN).get(number % 3);
      blocks.add(block(hidden, sequence, attention, dense, kind, 4, number < 3));
      number++;
    }
    blocks.add(block(hidden, sequence, plain(), SHARED, NormShape.LAYER, 2, true));
    Mixture biased = new Mixture(3, 3, new Dense(5, true, true), true, Optional.empty(), false);
    blocks.add(block(hidden, sequence, plain(), biased, NormShape.RMS, 2, true));
    return blocks;
  }

  static Operator.ShapedBlock block(
      int hidden,
      int sequence,
      GroupedQuery attention,
      FeedForwardShape feedForward,
      NormShape norm,
      int norms,
      boolean rotary) {
    LayerShape shape =
        new LayerShape(attention, new AttentionSpan.Full(), feedForward, norm, norms, false);
    return new Operator.ShapedBlock(
        shape,
        hidden,
        sequence,
        rotary,
        rotary ? new Positions.Rotary() : new Positions.Learned(sequence));
  }
}
