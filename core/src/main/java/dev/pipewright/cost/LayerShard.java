package dev.pipewright.cost;

import dev.pipewright.exchange.ShardedParameters;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import dev.pipewright.model.transformer.AttentionShape;
import dev.pipewright.model.transformer.FeedForwardShape;
import dev.pipewright.parallel.BlockShape;
import dev.pipewright.parallel.CutRegion;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.parallel.VocabularySplit;
import dev.pipewright.plan.ParallelismLimits;
import java.util.List;
import java.util.Optional;

/**
 * The largest part of a layer that a worker of a tensor-parallel group computes.
 *
 * @param part as shares of the layer's dimensions; {@link PartShares#WHOLE} where each computes all
 *     of it
 * @param wholeElements of a sample that the forward pass moves on every worker
 * @param keptWhole elements of a sample, of those that the layer keeps, that each worker keeps
 * @param keptShare of the others that it keeps
 * @param keptBeside elements of a sample that it keeps and one worker alone would not
 * @param workingWhole elements of a sample, of what the layer needs while it computes, that each
 *     worker needs
 * @param workingShare of the rest that it needs
 * @param workingBeside elements of a sample that it needs then and one worker alone would not
 * @param deferredShare of what the second part of its backward pass needs of the first
 * @param reach the maps that it computes with where it has some of the places
 * @param scores what it has of the network's outputs and needs for their loss
 */
record LayerShard(
    PartShares part,
    double wholeElements,
    double keptWhole,
    double keptShare,
    double keptBeside,
    double workingWhole,
    double workingShare,
    double workingBeside,
    double deferredShare,
    MapReach reach,
    Scores scores) {
  /**
   * The network's outputs where these stay divided.
   *
   * @param share that a worker has
   * @param spared elements of a sample that one worker needs for the loss of all of them, and
   *     workers that have some of them do not
   */
  record Scores(double share, double spared) {
    private static final Scores WHOLE = new Scores(1, 0);
  }

  /** Each worker does what one alone would do. */
  private static final LayerShard WHOLE =
      new LayerShard(PartShares.WHOLE, 0, 0, 1, 0, 0, 1, 0, 1, MapReach.NONE, Scores.WHOLE);

  /**
   * Elements that a block moves on every worker for each of its states and each pair of products:
   * sums 3, averages 3.
   */
  private static final double BLOCK_TRAFFIC = 6;

  /**
   * What the normalisation before a pair of products and its first product read: of all states, on
   * every worker.
   */
  private static final double BLOCK_STATES = 2;

  /**
   * Of these what the products read: of all steps, also where each worker has some of them. What is
   * described gathers them again for the backward pass instead (Korthikanti et al., §4.2.2).
   */
  private static final double BLOCK_READ = 2;

  /** Dropout masks of the states that a block keeps, at half an element each. */
  private static final double BLOCK_MASKS = 1;

  /** Elements that a head moves on every worker for each state: its normalization, the product. */
  private static final double HEAD_TRAFFIC = 5;

  /** States that a described head keeps: what its normalization reads and what its product does. */
  private static final double HEAD_STATES = 2;

  /** Copies of all scores that libtorch's cross entropy makes and that of their parts does not. */
  private static final double LOSS_SCORES = 2;

  /**
   * @param described whether layers were described and not measured. Described blocks have dropout
   *     masks, and where workers share steps they gather what products read again for the backward
   *     pass (Korthikanti et al., MLSys 2023, §4.2.1 and §4.2.2); where they divide tokens, they
   *     keep their own keys and values alone, and each has an early and a late run of tokens, so
   *     that all are equally busy (Llama 3, §3.3.2). Those of the runtime have no dropout, keep
   *     what they gathered, and have one run of tokens each
   */
  static LayerShard of(
      LayerGraph graph, int layer, Parallelism split, CutRegion region, boolean described) {
    return switch (split.kind()) {
      case NONE -> WHOLE;
      case FILTER, CHANNEL -> product(graph, layer, split);
      case SPATIAL -> region.contains(layer) ? places(graph, layer, split, region) : WHOLE;
      case CONTEXT -> tokens(graph, layer, split, region, described);
      case EXPERT ->
          split.nested()
              ? features(graph, layer, split, region, described)
              : tokens(graph, layer, split, region, described);
      case TENSOR, SEQUENCE -> features(graph, layer, split, region, described);
    };
  }

  private static LayerShard features(
      LayerGraph graph, int layer, Parallelism split, CutRegion region, boolean described) {
    return words(graph, layer, split.ofCopy(), described)
        .orElseGet(() -> block(graph, layer, split, region.contains(layer), described));
  }

  /** Of the largest part. */
  static double share(int extent, int parts) {
    return (double) Math.ceilDiv(extent, parts) / extent;
  }

  /** Whole tensors and gradients come in and go out; what else is needed belongs to filters. */
  private static LayerShard product(LayerGraph graph, int layer, Parallelism split) {
    double read = 0;
    for (int from : graph.predecessors(layer)) {
      read += graph.layer(from).outputElements();
    }
    Optional<Integer> width = new ParallelismLimits(graph).width(layer, split.kind());
    if (width.isEmpty()) {
      return WHOLE;
    }
    double share = share(width.get(), split.parts());
    double made = graph.layer(layer).outputElements();
    return split.kind() == Kind.FILTER
        ? new LayerShard(
            new PartShares(share, 1, 1),
            read,
            0,
            1,
            0,
            read + made,
            share,
            0,
            share,
            MapReach.NONE,
            Scores.WHOLE)
        : new LayerShard(
            new PartShares(1, share, 1), read, 0, 1, 0, 0, 1, 0, 1, MapReach.NONE, Scores.WHOLE);
  }

  private static LayerShard places(
      LayerGraph graph, int layer, Parallelism split, CutRegion region) {
    Layer own = graph.layer(layer);
    List<Integer> extents = own.output().map(Shape::extents).orElse(List.of());
    double share = 1;
    for (int axis = 1; axis < extents.size(); axis++) {
      share *= share(extents.get(axis), split.grid().get(axis - 1));
    }
    MapReach reach = MapReach.of(graph, layer, split);
    double beside = reach.beside();
    for (int reader : graph.successors(layer)) {
      if (!region.contains(reader)) {
        beside += own.outputElements(); // gathered, once
        break;
      }
    }
    PartShares part = new PartShares(1, 1, share);
    return new LayerShard(
        part, 0, 0, share, beside, 0, share, reach.beside(), share, reach, Scores.WHOLE);
  }

  /** Some of the tokens, with the keys and values of all of a sequence. */
  private static LayerShard tokens(
      LayerGraph graph, int layer, Parallelism split, CutRegion region, boolean described) {
    if (!region.contains(layer)) {
      return WHOLE;
    }
    Layer own = graph.layer(layer);
    int sequence = own.output().orElseThrow().extent(0);
    double share = share(sequence, split.tokenParts()) / split.sampleParts();
    Optional<BlockShape> block = BlockShape.of(own).filter(any -> split.tokenParts() > 1);
    double gathered =
        block.map(found -> (double) sequence * keysAndValues(own, found, described)).orElse(0.0);
    double held = parameters(graph, layer, split); // each is used by more tokens
    double last = described ? 1 : lastTokens(own, split.tokenParts());
    PartShares part = new PartShares(held, 1, share * last / held);
    double scores = region.staysCut(layer) ? share : 1;
    return new LayerShard(
        part,
        0,
        0,
        share,
        described ? 0 : (1 - share) * gathered,
        0,
        share,
        gathered,
        share,
        MapReach.NONE,
        new Scores(scores, 0));
  }

  /** The share of a layer's parameters that a worker has. */
  private static double parameters(LayerGraph graph, int layer, Parallelism split) {
    double all = graph.layer(layer).parameters();
    return all == 0 ? 1 : new ShardedParameters(graph, split).most(layer) / all;
  }

  /** Of a token that attention keeps; the runtime copies keys for each of the heads they serve. */
  private static double keysAndValues(Layer layer, BlockShape block, boolean described) {
    return !described
            && layer.operator() instanceof Operator.ShapedBlock shaped
            && shaped.shape().attention() instanceof AttentionShape.GroupedQuery attention
        ? 2.0 * attention.queryWidth()
        : block.keysAndValues();
  }

  /**
   * How much longer the last of the parts computes than an equal share: where attention is causal,
   * its tokens read (2p − 1) / p² of all pairs.
   */
  private static double lastTokens(Layer layer, int parts) {
    boolean causal =
        layer.operator() instanceof Operator.TransformerBlock block
            ? block.causal()
            : layer.operator() instanceof Operator.ShapedBlock shaped && shaped.causal();
    double all = layer.work().forward();
    double scores = causal && all > 0 ? 1 - layer.work().weightGradient() / all : 0;
    return 1 + scores * (parts - 1) / parts;
  }

  /** An embedding whose table is divided by words, or the head that scores these. */
  private static Optional<LayerShard> words(
      LayerGraph graph, int layer, Parallelism split, boolean described) {
    VocabularySplit vocabulary = new VocabularySplit(graph, split);
    double rows = vocabulary.rows(layer);
    double moved = graph.layer(layer).work().forwardElements();
    return vocabulary
        .embedding(layer)
        .map(table ->
            table(share(table.vocabulary(), split.parts()), moved, rows * table.features()))
        .or(() ->
            vocabulary
                .head(layer)
                .map(product ->
                    head(
                        share(product.out(), split.parts()),
                        rows * product.in(),
                        rows * product.out(),
                        described)));
  }

  /** Every worker has the states of all tokens; the gradient of the table is divided. */
  private static LayerShard table(double share, double moved, double states) {
    PartShares part = new PartShares(share, 1, 1);
    return new LayerShard(part, moved, 0, 1, 0, states, share, 0, 1, MapReach.NONE, Scores.WHOLE);
  }

  /** Every worker reads the states of all tokens; scores and their softmax are divided. */
  private static LayerShard head(double share, double states, double scores, boolean described) {
    double kept = (described ? HEAD_STATES : 1) * states;
    PartShares part = new PartShares(share, 1, 1);
    Scores own = new Scores(share, LOSS_SCORES * scores);
    return new LayerShard(
        part, HEAD_TRAFFIC * states, kept, share, 0, 0, share, 0, share, MapReach.NONE, own);
  }

  private static LayerShard block(
      LayerGraph graph, int layer, Parallelism split, boolean cut, boolean described) {
    Optional<BlockShape> found = BlockShape.of(graph.layer(layer));
    if (found.isEmpty()) {
      return WHOLE;
    }
    BlockShape block = found.get();
    double states = block.states();
    PartShares part = new PartShares(share(block.heads(), split.pieces()), 1, 1);
    boolean dropsOut =
        described && !(graph.layer(layer).operator() instanceof Operator.ShapedBlock);
    if (block.products() == 1) { // an attention alone
      return block(part, states, states);
    }
    double pairs = block.products() - (split.expertParts() > 1 ? wholeExperts(graph, layer) : 0);
    double kept = pairs * BLOCK_STATES + (dropsOut ? BLOCK_MASKS : 0);
    return cut
        ? block(part, 0, described ? 0 : pairs / 2 * BLOCK_READ * states)
        : block(part, pairs * BLOCK_TRAFFIC * states, kept * states);
  }

  /**
   * Perceptrons of a block that are experts alone: each worker has only tokens of its own there.
   */
  private static int wholeExperts(LayerGraph graph, int layer) {
    return graph.layer(layer).operator() instanceof Operator.ShapedBlock block
            && block.shape().feedForward() instanceof FeedForwardShape.Mixture mixture
            && mixture.shared().isEmpty()
        ? 1
        : 0;
  }

  private static LayerShard block(PartShares part, double moved, double kept) {
    double share = part.filters();
    return new LayerShard(part, moved, kept, share, 0, 0, 1, 0, share, MapReach.NONE, Scores.WHOLE);
  }
}
