package dev.pipewright.runtime.net;

import dev.pipewright.model.Operator;
import dev.pipewright.model.transformer.AttentionShape;
import dev.pipewright.model.transformer.AttentionShape.GroupedQuery;
import dev.pipewright.model.transformer.AttentionShape.QueryKeyNorm;
import dev.pipewright.model.transformer.AttentionSpan;
import dev.pipewright.model.transformer.FeedForwardShape;
import dev.pipewright.model.transformer.FeedForwardShape.Dense;
import dev.pipewright.model.transformer.InputShape.Positions;
import dev.pipewright.model.transformer.LayerShape;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A transformer's block of any shape: attention and a feed-forward part, each of which reads
 * normalised states and adds to plain ones; with four norms, what it adds is normalised, too (Gemma
 * 2).
 */
final class ShapedBlockModule implements Module {
  private static final int PRE_NORMS = 2;
  private static final int PRE_AND_POST_NORMS = 4;

  private final Module attentionNorm;
  private final Module attention;
  private final Optional<Module> afterAttention;
  private final Module feedForwardNorm;
  private final Module feedForward;
  private final Optional<Module> afterFeedForward;

  ShapedBlockModule(Operator.ShapedBlock block, FirstValues values, ParallelBlock split) {
    LayerShape shape = block.shape();
    int hidden = block.hidden();
    attentionNorm = StateNormalization.of(shape.norm(), "attention.", hidden, values);
    attention = new GroupedAttention(grouped(shape.attention()), block, values, split);
    afterAttention = after(shape, "attention.after.", hidden, values);
    feedForwardNorm = StateNormalization.of(shape.norm(), "perceptron.", hidden, values);
    feedForward = feedForward(shape.feedForward(), hidden, values, split);
    afterFeedForward = after(shape, "perceptron.after.", hidden, values);
  }

  private static GroupedQuery grouped(AttentionShape attention) {
    if (attention instanceof GroupedQuery grouped) {
      return grouped;
    }
    throw new IllegalArgumentException("attention that the runtime lacks: " + attention);
  }

  private static Optional<Module> after(
      LayerShape shape, String prefix, int hidden, FirstValues values) {
    return shape.norms() == PRE_AND_POST_NORMS
        ? Optional.of(StateNormalization.of(shape.norm(), prefix, hidden, values))
        : Optional.empty();
  }

  private static Module feedForward(
      FeedForwardShape shape, int hidden, FirstValues values, ParallelBlock split) {
    return switch (shape) {
      case FeedForwardShape.Dense dense ->
          Perceptron.of(dense, hidden, "perceptron", values, split);
      case FeedForwardShape.Mixture mixture -> new MixtureModule(mixture, hidden, values, split);
    };
  }

  /** What of a block cannot be computed, in words; empty where all of it can. */
  static Optional<String> lacking(Operator.ShapedBlock block) {
    LayerShape shape = block.shape();
    if (!(shape.attention() instanceof GroupedQuery attention)) {
      return Optional.of("multi-head latent attention");
    }
    if (attention.sinks()) {
      return Optional.of("attention sinks");
    }
    if (hides(shape.span(), block.sequence())) {
      return Optional.of("a sliding window or chunks that are shorter than its sequences");
    }
    if (shape.crossAttention()) {
      return Optional.of("cross-attention");
    }
    if (shape.norms() != PRE_NORMS && shape.norms() != PRE_AND_POST_NORMS) {
      return Optional.of("%d normalisations instead of 2 or 4".formatted(shape.norms()));
    }
    if (block.positions() instanceof Positions.Rotary && attention.headWidth() % 2 == 1) {
      return Optional.of("rotary positions with an odd head width");
    }
    return block.positions() instanceof Positions.Rotary
            || block.positions() instanceof Positions.Learned
        ? Optional.empty()
        : Optional.of("positions that are neither rotary nor learned");
  }

  /** What of a block cannot be divided by heads and inner features; empty where all can. */
  static Optional<String> undivided(Operator.ShapedBlock block, Parallelism split) {
    int parts = split.pieces();
    if (!(block.shape().attention() instanceof GroupedQuery attention)) {
      return Optional.of("multi-head latent attention");
    }
    if (parts > attention.keyValueHeads()) {
      return Optional.of("%d heads of keys and values".formatted(attention.keyValueHeads()));
    }
    if (attention.norm() != QueryKeyNorm.NONE && attention.norm() != QueryKeyNorm.PLAIN) {
      return Optional.of("learned norms of queries and keys");
    }
    return parts > 1
            && block.shape().feedForward() instanceof FeedForwardShape.Mixture mixture
            && ((split.expertParts() == 1 && mixture.expert().biases())
                || mixture.shared().filter(Dense::biases).isPresent())
        ? Optional.of("experts with biases")
        : Optional.empty();
  }

  private static boolean hides(AttentionSpan span, int sequence) {
    return switch (span) {
      case AttentionSpan.Full() -> false;
      case AttentionSpan.Window(int tokens) -> tokens < sequence;
      case AttentionSpan.Chunk(int tokens) -> tokens < sequence;
    };
  }

  @Override
  public List<Parameter> parameters() {
    List<Module> modules = new ArrayList<>(List.of(attentionNorm, attention));
    afterAttention.ifPresent(modules::add);
    modules.addAll(List.of(feedForwardNorm, feedForward));
    afterFeedForward.ifPresent(modules::add);
    return new LayerOperators(modules).parameters();
  }

  @Override
  public Tensor forward(List<Tensor> inputs, ForwardPass pass) {
    Tensor states = inputs.get(0);
    states = states.plus(added(states, attentionNorm, attention, afterAttention, pass));
    return states.plus(added(states, feedForwardNorm, feedForward, afterFeedForward, pass));
  }

  private static Tensor added(
      Tensor states, Module norm, Module part, Optional<Module> after, ForwardPass pass) {
    Tensor made = part.forward(List.of(norm.forward(List.of(states), pass)), pass);
    return after.map(module -> module.forward(List.of(made), pass)).orElse(made);
  }
}
