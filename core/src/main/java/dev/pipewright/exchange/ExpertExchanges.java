package dev.pipewright.exchange;

import dev.pipewright.exchange.GroupExchange.Handed;
import dev.pipewright.model.Operator;
import dev.pipewright.model.transformer.FeedForwardShape;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Span;
import java.util.List;

/**
 * The exchanges of a group that divides the experts of mixtures: how many rows each expert gets,
 * the rows, and what the experts make of them; gradients of both the other way (GShard, §3.1). Rows
 * are as many as where all experts get equally many.
 */
final class ExpertExchanges {
  private final Parallelism split;
  private final List<GroupExchange> found;

  ExpertExchanges(Parallelism split, List<GroupExchange> found) {
    this.split = split;
    this.found = found;
  }

  /** Those of a layer; none where it has no mixture, or its experts are not divided. */
  void add(int layer, Operator operator) {
    if (split.expertParts() > 1
        && operator instanceof Operator.ShapedBlock block
        && block.shape().feedForward() instanceof FeedForwardShape.Mixture mixture) {
      int parts = split.parts();
      double each = (double) mixture.chosen() * block.hidden() / mixture.experts();
      Handed counts = (from, to) -> Span.of(mixture.experts(), to, parts).count();
      Handed rows =
          (from, to) ->
              Math.round(each * tokens(block.sequence(), from) * counts.elements(from, to));
      long all = (long) block.sequence() * mixture.chosen() * block.hidden();
      add(layer, true, (long) parts * mixture.experts(), false, counts);
      add(layer, true, all, true, rows);
      add(layer, true, all, true, rows.back());
      add(layer, false, all, true, rows);
      add(layer, false, all, true, rows.back());
    }
  }

  /** Of a sample, that a member has: the mean where it has parts of some samples only. */
  private double tokens(int sequence, int member) {
    return split.sampleParts() > 1 || split.nested()
        ? (double) sequence / split.parts()
        : Span.of(sequence, member, split.parts()).count();
  }

  private void add(int layer, boolean forward, long all, boolean ofEachSample, Handed handed) {
    var kind = GroupExchange.Kind.ALL_TO_ALL;
    found.add(new GroupExchange(layer, forward, kind, all, ofEachSample, handed, split.nested()));
  }
}
