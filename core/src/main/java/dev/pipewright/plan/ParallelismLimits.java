package dev.pipewright.plan;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.transformer.FeedForwardShape;
import dev.pipewright.parallel.BlockShape;
import dev.pipewright.parallel.CutRegion;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.parallel.Windows;
import java.util.Comparator;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;

/** How far the layers of a network can be split (ParaDL, Table 3). */
public final class ParallelismLimits {
  private final LayerGraph graph;

  public ParallelismLimits(LayerGraph graph) {
    this.graph = graph;
  }

  /**
   * How tensor parallelism of a degree splits the network: transformer blocks by heads and inner
   * features, a network without any by filters. Whether it can be is {@link #refusal}'s to say.
   */
  public Parallelism tensorParallel(int degree) {
    if (degree == 1) {
      return Parallelism.NONE;
    }
    boolean blocks = graph.layers().stream().anyMatch(layer -> BlockShape.of(layer).isPresent());
    return Parallelism.of(blocks ? Kind.TENSOR : Kind.FILTER, degree);
  }

  /** A plan with the usual kind for this network where its file says a degree alone. */
  public PipelinePlan usual(PipelinePlan plan) {
    return plan.with(
        plan.stages().stream()
            .map(stage ->
                stage.parallelism().kind() == Kind.TENSOR
                    ? stage.with(tensorParallel(stage.parallelism().parts()))
                    : stage)
            .toList());
  }

  /** Why a network cannot be split so: the layer with its limit. Empty where it can. */
  public Optional<String> refusal(Parallelism split) {
    return switch (split.kind()) {
      case NONE -> Optional.empty();
      case FILTER, CHANNEL -> products(split);
      case SPATIAL -> maps(split);
      case TENSOR, SEQUENCE -> features(split);
      case CONTEXT -> blocks(split, BlockShape::sequence, "tokens");
      case EXPERT -> experts(split).or(() -> besideExperts(split));
    };
  }

  private Optional<String> features(Parallelism split) {
    return blocks(split.ofCopy(), BlockShape::heads, "heads").or(() -> copies(split));
  }

  /** Of expert parallelism, what divides the other parts of layers. */
  private Optional<String> besideExperts(Parallelism split) {
    if (split.nested()) {
      return features(split);
    }
    return split.sampleParts() > 1
        ? Optional.empty()
        : blocks(split, BlockShape::sequence, "tokens");
  }

  /**
   * The output features of a layer that {@link Kind#FILTER} splits, or the input features of one
   * that {@link Kind#CHANNEL} does; empty where it stays whole. Channels are split from the second
   * product on (ParaDL §4.5); a convolution of several groups stays whole.
   */
  public Optional<Integer> width(int layer, Kind kind) {
    Optional<Operator> product = product(graph.layer(layer));
    if (product.isEmpty() || (kind == Kind.CHANNEL && first(layer))) {
      return Optional.empty();
    }
    return product.map(operator ->
        switch (operator) {
          case Operator.Convolution c -> kind == Kind.FILTER ? c.outChannels() : c.inChannels();
          case Operator.Linear l -> kind == Kind.FILTER ? l.out() : l.in();
          default -> throw new IllegalStateException("not a product: " + operator);
        });
  }

  private static Optional<Operator> product(Layer layer) {
    return layer.steps().stream()
        .filter(step ->
            step instanceof Operator.Linear
                || (step instanceof Operator.Convolution c && c.groups() == 1))
        .findFirst();
  }

  /** Whether no product comes before it in the layers' order, nor a layer that may be one. */
  private boolean first(int layer) {
    for (int before : graph.topological()) {
      if (before == layer) {
        return true;
      }
      Layer earlier = graph.layer(before);
      if (product(earlier).isPresent() || earlier.operator() instanceof Operator.Recorded) {
        return false;
      }
    }
    return true;
  }

  /**
   * The layer with the fewest features that a kind splits; empty where it splits none.
   *
   * @param kind {@link Kind#FILTER} or {@link Kind#CHANNEL}
   */
  public OptionalInt narrowest(Kind kind) {
    return IntStream.range(0, graph.size())
        .filter(layer -> width(layer, kind).isPresent())
        .boxed()
        .min(Comparator.comparing(layer -> width(layer, kind).orElseThrow()))
        .map(OptionalInt::of)
        .orElse(OptionalInt.empty());
  }

  private Optional<String> products(Parallelism split) {
    String what = split.kind() == Kind.FILTER ? "filters" : "input channels";
    OptionalInt narrowest = narrowest(split.kind());
    if (narrowest.isEmpty()) {
      return Optional.of(
          "%s has no layer whose %s can be split; take another kind".formatted(graph.name(), what));
    }
    int layer = narrowest.getAsInt();
    return tooFew(split, layer, width(layer, split.kind()).orElseThrow(), what);
  }

  private Optional<String> tooFew(Parallelism split, int layer, int limit, String what) {
    return split.parts() <= limit
        ? Optional.empty()
        : Optional.of(
            "layer %s of %s has %d %s and cannot be split in %d; take %d parts or fewer"
                .formatted(
                    graph.layer(layer).name(), graph.name(), limit, what, split.parts(), limit));
  }

  /** Later layers may be gathered; the first one with windows has to be split. */
  private Optional<String> maps(Parallelism split) {
    CutRegion region = new CutRegion(graph, split);
    for (int layer : graph.topological()) {
      var map = CutRegion.mapBefore(graph, layer);
      boolean windows = Windows.of(graph.layer(layer).operator()).isPresent();
      if (windows && map.isPresent()) {
        return region.contains(layer) || !split.several()
            ? Optional.empty()
            : Optional.of(
                "layer %s of %s reads maps of %s and cannot be split in %s; take fewer parts"
                    .formatted(graph.layer(layer).name(), graph.name(), map.get(), split.grid()));
      }
    }
    return Optional.of(
        "%s has no layer whose spatial positions can be split; take another kind"
            .formatted(graph.name()));
  }

  /**
   * Copies of a group divide the tokens or samples of all layers, and each member has equally many
   * tokens.
   */
  private Optional<String> copies(Parallelism split) {
    int copies = split.copies();
    CutRegion region = new CutRegion(graph, split.betweenCopies());
    for (int layer = 0; split.nested() && layer < graph.size(); layer++) {
      Layer own = graph.layer(layer);
      boolean source = graph.predecessors(layer).length == 0;
      if (!source && copies > 1 && !region.contains(layer)) {
        String what = split.expertParts() > 1 ? "expert" : "context";
        return Optional.of(
            "layer %s of %s does more than treat each token alike, so that %d tensor-parallel groups cannot divide its tokens; take %s or tensor parallelism alone"
                .formatted(own.name(), graph.name(), copies, what));
      }
      int together = split.tokenParts() * split.pieces();
      if (!source && own.output().orElseThrow().extent(0) % together != 0) {
        return Optional.of(
            "layer %s of %s has %d tokens, which %s devices cannot share equally; take degrees whose product divides them"
                .formatted(
                    own.name(),
                    graph.name(),
                    own.output().get().extent(0),
                    split.tokenParts() > 1 ? copies + " × " + split.pieces() : together));
      }
    }
    return Optional.empty();
  }

  private Optional<String> experts(Parallelism split) {
    boolean any = false;
    for (int layer = 0; layer < graph.size(); layer++) {
      OptionalInt experts = experts(graph.layer(layer).operator());
      any |= experts.isPresent();
      if (experts.isPresent() && split.parts() > experts.getAsInt()) {
        return tooFew(split, layer, experts.getAsInt(), "experts");
      }
    }
    return any
        ? Optional.empty()
        : Optional.of(
            "%s has no mixture of experts to split; take another kind".formatted(graph.name()));
  }

  /** Experts of a block; empty where it has no mixture. */
  public static OptionalInt experts(Operator operator) {
    return operator instanceof Operator.ShapedBlock block
            && block.shape().feedForward() instanceof FeedForwardShape.Mixture mixture
        ? OptionalInt.of(mixture.experts())
        : OptionalInt.empty();
  }

  private Optional<String> blocks(Parallelism split, ToIntFunction<BlockShape> limit, String what) {
    boolean any = false;
    for (int layer = 0; layer < graph.size(); layer++) {
      Optional<BlockShape> block = BlockShape.of(graph.layer(layer));
      any |= block.isPresent();
      if (block.isPresent() && split.parts() > limit.applyAsInt(block.get())) {
        return tooFew(split, layer, limit.applyAsInt(block.get()), what);
      }
    }
    return any
        ? Optional.empty()
        : Optional.of(
            "%s has no transformer block to split; take another kind".formatted(graph.name()));
  }
}
