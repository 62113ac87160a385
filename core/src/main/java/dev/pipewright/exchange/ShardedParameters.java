package dev.pipewright.exchange;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.transformer.AttentionShape;
import dev.pipewright.model.transformer.FeedForwardShape;
import dev.pipewright.parallel.BlockShape;
import dev.pipewright.parallel.CutRegion;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Span;
import dev.pipewright.parallel.VocabularySplit;
import dev.pipewright.plan.ParallelismLimits;
import org.jspecify.annotations.Nullable;

/** The parameters of each layer that each worker of a tensor-parallel group holds. */
public final class ShardedParameters {
  private static final int INNER = 4; // features of a perceptron for each of a block's states

  private final LayerGraph graph;
  private final Parallelism split;
  private final CutRegion region;
  private final ParallelismLimits limits;
  private final VocabularySplit vocabulary;
  private final @Nullable Held[] first; // by layer, what its first member has, once it is asked for

  public ShardedParameters(LayerGraph graph, Parallelism split) {
    this.graph = graph;
    this.split = split;
    this.region = new CutRegion(graph, split);
    this.limits = new ParallelismLimits(graph);
    this.vocabulary = new VocabularySplit(graph, split);
    this.first = new Held[graph.size()];
  }

  /**
   * Numbers of a layer.
   *
   * @param pieces that only one member has, or one of each copy of the group
   * @param experts that only one member has
   * @param whole that all have
   * @param summed whether the gradients of these are what all members' add up to
   */
  public record Held(long pieces, long experts, long whole, boolean summed) {
    /** All that a member has. */
    public long numbers() {
      return pieces + experts + whole;
    }
  }

  /** What a member has of a layer. */
  public Held of(int layer, int part) {
    if (part > 0) {
      return held(layer, part);
    }
    Held known = first[layer];
    if (known == null) {
      known = held(layer, part);
      first[layer] = known;
    }
    return known;
  }

  private Held held(int layer, int part) {
    long divided = 0;
    long pieces = 0;
    long experts = 0;
    for (Operator step : graph.layer(layer).steps()) {
      divided += divided(layer, step, 0, 1) + experts(step, 0, 1);
      pieces += divided(layer, step, split.piece(part), split.pieces());
      experts += experts(step, part, split.parts());
    }
    long whole = graph.layer(layer).parameters() - divided;
    return new Held(pieces, experts, whole, region.contains(layer));
  }

  /** The most numbers of a layer that a member has. */
  public long most(int layer) {
    long most = 0;
    for (int part = 0; part < Math.max(split.pieces(), split.expertParts()); part++) {
      most = Math.max(most, of(layer, part).numbers());
    }
    return most;
  }

  /** Of the numbers that are divided but for whole experts, those of one of so many parts. */
  private long divided(int layer, Operator step, int part, int parts) {
    boolean blocks = split.dividesFeatures();
    return switch (step) {
      case Operator.Convolution c when c.groups() == 1 -> {
        long window = c.kernel().stream().mapToLong(Integer::longValue).reduce(1, (a, b) -> a * b);
        yield product(layer, c.outChannels(), c.inChannels(), window, c.bias(), part, parts);
      }
      case Operator.Linear l when vocabulary.head(layer).filter(l::equals).isPresent() ->
          Span.of(l.out(), part, parts).count() * (l.in() + (l.bias() ? 1L : 0));
      case Operator.Linear l -> product(layer, l.out(), l.in(), 1, l.bias(), part, parts);
      case Operator.Embedding e when vocabulary.embedding(layer).isPresent() ->
          Span.of(e.vocabulary(), part, parts).count() * e.features();
      case Operator.Attention a when blocks -> attention(a.hidden(), a.heads(), part, parts);
      case Operator.TransformerBlock b when blocks ->
          attention(b.hidden(), b.heads(), part, parts) + perceptron(b.hidden(), part, parts);
      case Operator.ShapedBlock b when blocks -> shaped(b, part, parts);
      case Operator.Block b when blocks -> described(layer, b, part, parts);
      default -> 0;
    };
  }

  private long product(
      int layer, long out, long in, long window, boolean bias, int part, int parts) {
    if (limits.width(layer, split.kind()).isEmpty()) {
      return 0;
    }
    return switch (split.kind()) {
      case FILTER -> Span.of(out, part, parts).count() * (in * window + (bias ? 1 : 0));
      case CHANNEL -> out * window * Span.of(in, part, parts).count();
      case NONE, SPATIAL, TENSOR, SEQUENCE, CONTEXT, EXPERT -> 0;
    };
  }

  /** Heads: what makes queries, keys and values with its biases, and what reads the result. */
  private static long attention(long hidden, long heads, int part, int parts) {
    long features = Span.of(heads, part, parts).count() * (hidden / heads);
    return 3 * features * (hidden + 1) + features * hidden;
  }

  /** Of a block of which only sizes are known: all of its numbers. */
  private long described(int layer, Operator.Block block, int part, int parts) {
    Layer own = graph.layer(layer);
    return BlockShape.of(own, block).isPresent()
        ? Span.of(own.parameters(), part, parts).count()
        : 0;
  }

  private static long perceptron(long hidden, int part, int parts) {
    long inner = Span.of(INNER * hidden, part, parts).count();
    return inner * (hidden + 1) + inner * hidden;
  }

  /** What has the features of heads, or the inner features of perceptrons and experts. */
  private long shaped(Operator.ShapedBlock block, int part, int parts) {
    return block.shape().attentions()
            * heads(block.shape().attention(), block.hidden(), part, parts)
        + inner(block.shape().feedForward(), block.hidden(), part, parts);
  }

  /** Whole experts, where members have some each. */
  private long experts(Operator step, int part, int parts) {
    return split.expertParts() > 1
            && step instanceof Operator.ShapedBlock block
            && block.shape().feedForward() instanceof FeedForwardShape.Mixture mixture
        ? Span.of(mixture.experts(), part, parts).count()
            * mixture.expert().parameters(block.hidden())
        : 0;
  }

  private static long heads(AttentionShape attention, long hidden, int part, int parts) {
    return switch (attention) {
      case AttentionShape.GroupedQuery grouped -> {
        boolean whole = parts <= grouped.keyValueHeads(); // keys stay with the heads they serve
        long keys =
            whole
                ? Span.of(grouped.keyValueHeads(), part, parts).count() * grouped.headWidth()
                : Span.of(grouped.keyWidth(), part, parts).count();
        long queries =
            whole
                ? keys * (grouped.heads() / grouped.keyValueHeads())
                : Span.of(grouped.heads(), part, parts).count() * grouped.headWidth();
        yield 2 * hidden * (queries + keys) + (grouped.inputBiases() ? queries + 2 * keys : 0);
      }
      case AttentionShape.Latent latent -> {
        long own = Span.of(latent.heads(), part, parts).count();
        long from = latent.queryRank().isPresent() ? latent.queryRank().getAsInt() : hidden;
        yield own
            * (from * (latent.plainWidth() + latent.rotaryWidth())
                + (long) latent.keyValueRank() * (latent.plainWidth() + latent.valueWidth())
                + hidden * latent.valueWidth());
      }
    };
  }

  private long inner(FeedForwardShape feedForward, long hidden, int part, int parts) {
    return switch (feedForward) {
      case FeedForwardShape.Dense dense -> {
        long width = Span.of(dense.width(), part, parts).count();
        yield width * (dense.inward() * (hidden + (dense.biases() ? 1 : 0)) + hidden);
      }
      case FeedForwardShape.Mixture mixture ->
          (split.expertParts() > 1 ? 0 : mixture.experts())
                  * inner(mixture.expert(), hidden, part, parts)
              + mixture.shared().map(dense -> inner(dense, hidden, part, parts)).orElse(0L);
    };
  }
}
