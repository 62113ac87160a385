package dev.pipewright.exchange;

import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import dev.pipewright.parallel.CutRegion;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.parallel.Span;
import dev.pipewright.plan.LayerRange;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * All exchanges of the tensor-parallel group of a stage, in the order of the forward pass. The
 * runtime makes them, and the oracle prices them.
 *
 * <p>ParaDL §3 (filters, channels, spatial positions), Megatron-LM §3 (heads and MLP features),
 * Korthikanti et al. §4.2.2 (sequence), Llama 3 §3.3.2 (context). Where not all stages divide
 * layers alike, a stage begins and ends with full tensors, or where groups are {@linkplain
 * Parallelism#copies copies} with all of their tokens. Gradients are exchanged only where an
 * earlier layer has parameters.
 */
public final class GroupExchanges {
  private final LayerGraph graph;
  private final Parallelism group;
  private final Parallelism split; // of a copy
  private final CutRegion region;
  private final boolean[] differentiable; // by layer
  private final Set<Integer> stage = new HashSet<>(); // its layers
  private final Set<Integer> cut = new HashSet<>(); // whole outputs that have been cut
  private final Set<Integer> gathered = new HashSet<>(); // outputs in parts that have been gathered
  private final List<GroupExchange> found = new ArrayList<>();

  private GroupExchanges(LayerGraph graph, Parallelism group, boolean alike) {
    this.graph = graph;
    this.group = group;
    this.split = group.ofCopy();
    this.region = new CutRegion(graph, split, alike);
    this.differentiable = differentiable(graph);
  }

  /** Whether a gradient reaches each layer's output on its way to some parameter. */
  public static boolean[] differentiable(LayerGraph graph) {
    boolean[] differentiable = new boolean[graph.size()];
    for (int layer : graph.topological()) {
      differentiable[layer] = graph.layer(layer).parameters() > 0;
      for (int before : graph.predecessors(layer)) {
        differentiable[layer] |= differentiable[before];
      }
    }
    return differentiable;
  }

  /**
   * Of a stage; none where it is not split.
   *
   * @param alike whether all stages divide layers so ({@link CutRegion#staysCut})
   */
  public static List<GroupExchange> of(
      Chain chain, LayerRange range, Parallelism split, boolean alike) {
    if (!split.several()) {
      return List.of();
    }
    return split.nested()
        ? CopyExchanges.of(chain, range, split, alike)
        : ofCopy(chain, range, split, alike);
  }

  /** Of a stage those within each copy of a group, as if it were the only one. */
  static List<GroupExchange> ofCopy(
      Chain chain, LayerRange range, Parallelism split, boolean alike) {
    GroupExchanges exchanges = new GroupExchanges(chain.graph(), split, alike);
    exchanges.walk(chain.layers(range.first() - 1, range.last()), chain.crossing(range.last()));
    return List.copyOf(exchanges.found);
  }

  private void walk(int[] layers, int[] outputs) {
    Arrays.stream(layers).forEach(stage::add);
    for (int layer : graph.topological()) {
      if (stage.contains(layer)) {
        for (int from : graph.predecessors(layer)) {
          read(from, layer, region.contains(layer));
        }
        new LayerExchanges(graph, layer, group, region.contains(layer), reads(layer), found).walk();
      }
    }
    for (int layer : outputs) {
      if (!region.staysCut(layer)) {
        read(layer, layer, false);
      }
    }
  }

  /** Whether a layer's input has a gradient. */
  private boolean reads(int layer) {
    return Arrays.stream(graph.predecessors(layer)).anyMatch(from -> differentiable[from]);
  }

  /**
   * A layer's output is read, whole or in parts: the other is made of the one once, by the layer
   * itself, or where that is in another stage by the first that reads it.
   */
  private void read(int from, int reader, boolean inParts) {
    boolean own = stage.contains(from);
    boolean made = own ? region.contains(from) : region.staysCut(from); // in parts
    int at = own ? from : reader;
    if (made && !inParts && gathered.add(from)) {
      found.add(LayerExchanges.gather(at, true, whole(from), parts(from)));
    } else if (!made && inParts && cut.add(from) && differentiable[from]) {
      found.add(LayerExchanges.gather(at, false, whole(from), parts(from)));
    }
  }

  private Shape shape(int layer) {
    return graph.layer(layer).output().orElseThrow();
  }

  private long whole(int layer) {
    return shape(layer).elements();
  }

  /** Elements of each member's part of a layer's output, for each sample of all. */
  private LayerExchanges.Sizes parts(int layer) {
    List<Integer> extents = shape(layer).extents();
    if (split.sampleParts() > 1) {
      return part -> Span.of(whole(layer), part, split.parts()).count();
    }
    if (split.kind() != Kind.SPATIAL) {
      long each = shape(layer).elements() / extents.get(0);
      return part -> Span.of(extents.get(0), part, split.parts()).count() * each;
    }
    return part -> {
      int[] place = split.place(part);
      long elements = extents.get(0);
      for (int axis = 0; axis < place.length; axis++) {
        elements *= Span.of(extents.get(axis + 1), place[axis], split.grid().get(axis)).count();
      }
      return elements;
    };
  }

  /** Whether an operator has parameters, so that what it makes has a gradient. */
  static boolean learns(Operator operator) {
    return switch (operator) {
      case Operator.Convolution c -> true;
      case Operator.Linear l -> true;
      case Operator.Normalization n -> true;
      case Operator.Embedding e -> true;
      case Operator.Positions p -> true;
      case Operator.Segments s -> true;
      case Operator.ClassToken t -> true;
      case Operator.TiedScores t -> true;
      case Operator.TiedEmbedding t -> true;
      case Operator.Attention a -> true;
      case Operator.Lstm l -> true;
      case Operator.AttentionLstm a -> true;
      case Operator.TransformerBlock b -> true;
      case Operator.ShapedBlock b -> true;
      case Operator.Input i -> false;
      case Operator.Tokens t -> false;
      case Operator.Pooling p -> false;
      case Operator.Elementwise e -> false;
      case Operator.Concatenation c -> false;
      case Operator.Mask m -> false;
      case Operator.Residual r -> false;
      case Operator.Carried c -> false;
      case Operator.Block b -> false;
      case Operator.Recorded r -> false;
    };
  }
}
