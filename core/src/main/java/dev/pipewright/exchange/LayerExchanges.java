package dev.pipewright.exchange;

import dev.pipewright.exchange.GroupExchange.Handed;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import dev.pipewright.model.transformer.FeedForwardShape;
import dev.pipewright.parallel.BlockShape;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.parallel.Span;
import dev.pipewright.parallel.VocabularySplit;
import dev.pipewright.parallel.Windows;
import dev.pipewright.plan.ParallelismLimits;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The exchanges of a tensor-parallel group within a layer, operator by operator. */
final class LayerExchanges {
  private final LayerGraph graph;
  private final int layer;
  private final Parallelism split;
  private final boolean experts; // whether members of several groups have some each
  private final boolean cut; // whether each reads and makes its part
  private final VocabularySplit vocabulary;
  private final List<GroupExchange> found;
  private boolean gradient; // whether what the next operator reads has one
  private List<Integer> extents; // of the whole of it, where they are known

  /** What each member has. */
  interface Sizes {
    long elements(int part);
  }

  LayerExchanges(
      LayerGraph graph,
      int layer,
      Parallelism split,
      boolean cut,
      boolean gradient,
      List<GroupExchange> found) {
    this.graph = graph;
    this.layer = layer;
    this.split = split.ofCopy();
    this.experts = split.expertParts() > 1;
    this.cut = cut;
    this.vocabulary = new VocabularySplit(graph, this.split);
    this.gradient = gradient;
    this.found = found;
    int[] from = graph.predecessors(layer);
    this.extents =
        from.length == 0
            ? List.of()
            : graph.layer(from[0]).output().map(Shape::extents).orElse(List.of());
  }

  void walk() {
    if (split.dividesTokens()) {
      if (cut) {
        attentions();
        new ExpertExchanges(split, found).add(layer, graph.layer(layer).operator());
      }
      return;
    }
    for (Operator step : graph.layer(layer).steps()) {
      switch (step) {
        case Operator.Convolution c -> convolution(c);
        case Operator.Pooling p -> windows(Windows.of(p).orElseThrow());
        case Operator.Linear l when vocabulary.head(layer).filter(l::equals).isPresent() -> head(l);
        case Operator.Linear l -> linear(l);
        case Operator.Embedding e when vocabulary.embedding(layer).isPresent() ->
            sum(true, (long) vocabulary.rows(layer) * e.features(), true);
        case Operator.Normalization n -> normalization(n);
        case Operator.Attention a -> whole((long) a.sequence() * a.hidden());
        case Operator.TransformerBlock b -> block(b.sequence(), b.hidden(), b.normalizedFirst(), 2);
        case Operator.ShapedBlock b -> {
          block(b.sequence(), b.hidden(), true, pairs(b));
          experts(b);
        }
        case Operator.Block b ->
            BlockShape.of(graph.layer(layer), b)
                .ifPresent(shape -> {
                  whole(shape.states());
                  whole(shape.states(), true);
                });
        default -> {
          // each member does all of it, or its part of it by itself
        }
      }
      gradient |= GroupExchanges.learns(step);
    }
  }

  /** Keys and values of all tokens, and the sums of their gradients; none of whole sequences. */
  private void attentions() {
    if (split.tokenParts() == 1) {
      return;
    }
    for (Operator step : graph.layer(layer).steps()) {
      BlockShape.of(graph.layer(layer), step)
          .ifPresent(block -> {
            gather(true, block.sequence(), block.keysAndValues());
            sumParts(false, block.sequence(), block.keysAndValues());
          });
    }
  }

  /** A gathering of what each member has. */
  static GroupExchange gather(int layer, boolean forward, long whole, Sizes sizes) {
    return new GroupExchange(
        layer, forward, GroupExchange.Kind.GATHER, whole, true, (from, to) -> sizes.elements(from));
  }

  private Sizes along(long extent, long each) {
    return part -> Span.of(extent, part, split.parts()).count() * each;
  }

  private void gather(boolean forward, long extent, long each) {
    found.add(gather(layer, forward, extent * each, along(extent, each)));
  }

  private void sum(boolean forward, long elements, boolean ofEachSample) {
    found.add(
        new GroupExchange(
            layer, forward, GroupExchange.Kind.SUM, elements, ofEachSample, Handed.NOTHING));
  }

  /** Each gets its part of the sum of what all have. */
  private void sumParts(boolean forward, long extent, long each) {
    Sizes sizes = along(extent, each);
    found.add(
        new GroupExchange(
            layer,
            forward,
            GroupExchange.Kind.SUM_PARTS,
            extent * each,
            true,
            (from, to) -> sizes.elements(to)));
  }

  private void convolution(Operator.Convolution operator) {
    Windows windows = Windows.of(operator).orElseThrow();
    List<Integer> map = extents.isEmpty() ? List.of() : extents.subList(1, extents.size());
    long read = elements(map);
    windows(windows);
    List<Integer> made = extents.isEmpty() ? List.of() : extents.subList(1, extents.size());
    if (operator.groups() == 1) {
      product(operator.inChannels(), read, operator.outChannels(), elements(made));
    }
    if (!extents.isEmpty()) {
      extents = join(operator.outChannels(), made);
    }
  }

  private void linear(Operator.Linear operator) {
    Layer own = graph.layer(layer);
    boolean oneRow = own.output().map(shape -> shape.extents().size() == 1).orElse(true);
    long rows = oneRow ? 1 : own.outputElements() / operator.out();
    product(operator.in(), rows, operator.out(), rows);
    if (oneRow) {
      extents = List.of(operator.out());
    } else {
      List<Integer> others = new ArrayList<>(extents);
      if (!others.isEmpty()) {
        others.set(others.size() - 1, operator.out());
      }
      extents = others;
    }
  }

  /** The gradient of what it reads, and what the loss needs of each row of scores, once. */
  private void head(Operator.Linear operator) {
    int rows = vocabulary.rows(layer);
    if (gradient) {
      sum(false, (long) rows * operator.in(), true);
    }
    long each = (long) VocabularySplit.LOSS_TERMS * rows;
    found.add(gather(layer, false, split.parts() * each, part -> each));
  }

  private static long elements(List<Integer> extents) {
    return extents.stream().mapToLong(Integer::longValue).reduce(1, Math::multiplyExact);
  }

  private static List<Integer> join(int channels, List<Integer> map) {
    List<Integer> all = new ArrayList<>(List.of(channels));
    all.addAll(map);
    return all;
  }

  /**
   * A convolution or a product with a matrix.
   *
   * @param in channels or features, at each of {@code read} places
   * @param out likewise
   */
  private void product(int in, long read, int out, long made) {
    if (new ParallelismLimits(graph).width(layer, split.kind()).isEmpty()) {
      return;
    }
    if (split.kind() == Kind.FILTER) {
      gather(true, out, made);
      if (gradient) {
        sum(false, in * read, true);
      }
    } else if (split.kind() == Kind.CHANNEL) {
      sum(true, out * made, true);
      if (gradient) {
        gather(false, in, read);
      }
    }
  }

  /** The rows that windows reach, axis by axis; those of the corners go with the next axis's. */
  private void windows(Windows windows) {
    if (extents.isEmpty()) {
      return;
    }
    List<Integer> map = extents.subList(1, extents.size());
    for (int axis = 0; cut && axis < map.size(); axis++) {
      int parts = split.grid().get(axis);
      if (parts > 1 && windows.halo(axis, map.get(axis), parts).exchanges()) {
        Handed handed = new HaloRows(windows, map, split, axis, extents.get(0));
        halo(true, handed);
        if (gradient) {
          halo(false, handed.back());
        }
      }
    }
    extents = join(extents.get(0), windows.places(map));
  }

  private void halo(boolean forward, Handed handed) {
    long most = 0;
    for (long[] sent : handed.messages(split.parts())) {
      most = Math.max(most, Arrays.stream(sent).sum());
    }
    found.add(new GroupExchange(layer, forward, GroupExchange.Kind.HALO, most, true, handed));
  }

  /** Averages over all places: sums with the count of what was summed, then squares. */
  private void normalization(Operator.Normalization operator) {
    if (cut && operator.kind() == Operator.Normalization.Kind.BATCH) {
      for (boolean forward : gradient ? new boolean[] {true, false} : new boolean[] {true}) {
        sum(forward, operator.features() + 1L, false);
        sum(forward, operator.features(), false);
      }
    }
  }

  /** Of experts that are divided only shared ones are a pair of which each member has features. */
  private int pairs(Operator.ShapedBlock block) {
    boolean whole =
        experts
            && block.shape().feedForward() instanceof FeedForwardShape.Mixture mixture
            && mixture.shared().isEmpty();
    return block.shape().attentions() + (whole ? 0 : 1);
  }

  /** Pairs of products, of which each member has heads or inner features. */
  private void block(int sequence, int hidden, boolean normalizedFirst, int pairs) {
    for (int pair = 0; pair < pairs; pair++) {
      boolean reads = gradient || pair > 0 || normalizedFirst;
      if (cut) {
        gather(true, sequence, hidden);
        if (reads) {
          sumParts(false, sequence, hidden);
        }
        sumParts(true, sequence, hidden);
        gather(false, sequence, hidden);
      } else {
        whole((long) sequence * hidden, reads);
      }
    }
  }

  /** The gradients of weights that all members have of their terms: of experts, and of a gate. */
  private void experts(Operator.ShapedBlock block) {
    if (!cut && block.shape().feedForward() instanceof FeedForwardShape.Mixture mixture) {
      sum(false, (long) block.sequence() * mixture.chosen(), true);
      if (mixture.sharedGate()) {
        sum(false, block.sequence(), true);
      }
    }
  }

  private void whole(long states) {
    whole(states, gradient);
  }

  /** All read whole states and make terms of whole states. */
  private void whole(long states, boolean reads) {
    if (split.dividesFeatures()) {
      sum(true, states, true);
      if (reads) {
        sum(false, states, true);
      }
    }
  }
}
