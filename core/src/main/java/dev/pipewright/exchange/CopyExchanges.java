package dev.pipewright.exchange;

import dev.pipewright.exchange.GroupExchange.Handed;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Layer;
import dev.pipewright.model.Operator;
import dev.pipewright.parallel.BlockShape;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.LayerRange;
import java.util.ArrayList;
import java.util.List;

/**
 * The exchanges of a tensor-parallel group that consists of {@linkplain Parallelism#copies copies}
 * with other tokens or samples each: each copy exchanges for these. Where they have other tokens,
 * as context-parallel ranks do (Llama 3 §3.3.2), those who have the same heads gather keys and
 * values of all tokens for attention. Where all divide experts, all send each other rows for these.
 * A stage begins and ends with the tokens and samples of its copy alone.
 */
final class CopyExchanges {
  private CopyExchanges() {}

  /**
   * Of a stage: those of each copy in the order of the forward pass, then those of attention and of
   * experts.
   */
  static List<GroupExchange> of(Chain chain, LayerRange range, Parallelism split, boolean alike) {
    List<GroupExchange> found = new ArrayList<>();
    for (GroupExchange each : GroupExchanges.ofCopy(chain, range, split, alike)) {
      found.add(each.ofCopies(split.copies()));
    }
    ExpertExchanges experts = new ExpertExchanges(split, found);
    for (int number : chain.layers(range.first() - 1, range.last())) {
      Layer layer = chain.graph().layer(number);
      if (split.tokenParts() > 1) {
        for (Operator step : layer.steps()) {
          BlockShape.of(layer, step).ifPresent(block -> addAttention(number, block, split, found));
        }
      }
      experts.add(number, layer.operator());
    }
    return List.copyOf(found);
  }

  private static void addAttention(
      int layer, BlockShape block, Parallelism split, List<GroupExchange> found) {
    long all = (long) block.sequence() * block.keysAndValues(split.pieces());
    Handed handed = (from, to) -> all / split.copies();
    found.add(new GroupExchange(layer, true, GroupExchange.Kind.GATHER, all, true, handed, true));
    found.add(
        new GroupExchange(layer, false, GroupExchange.Kind.SUM_PARTS, all, true, handed, true));
  }
}
