package dev.pipewright.execution;

import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Optimizer;
import dev.pipewright.units.Check;
import java.util.stream.Stream;

/**
 * How gradients change parameters.
 *
 * @param kind {@link Optimizer#SGD}, {@link Optimizer#MOMENTUM} or {@link Optimizer#ADAM}
 * @param rate the step's length
 * @param momentum the share of the last step that is taken again; of {@code MOMENTUM} only
 * @param decay a share of the parameter itself that is added to its gradient
 */
public record UpdateRule(Optimizer kind, double rate, double momentum, double decay) {
  /** Convolutions without normalisation beyond which momentum takes a tenth of the rate. */
  private static final int DEEP = 8;

  public UpdateRule {
    Check.that(
        kind != Optimizer.RMSPROP, "training knows sgd, momentum and adam: optimizer=%s", kind);
    Check.positive(rate, "the learning rate");
    Check.that(momentum >= 0 && momentum < 1, "momentum is a share below 1: momentum=%s", momentum);
    Check.amount(decay, "the weight decay");
  }

  /** The usual rates: 0.01 and momentum 0.9, or 0.001 for Adam. */
  public static UpdateRule usual(Optimizer kind) {
    return with(kind, kind == Optimizer.ADAM ? 1e-3 : 0.01);
  }

  /**
   * The rates with which a network of this kind learns from the first step on, without a warm-up.
   * They are lower where nothing normalises what convolutions compute, as in VGG: features grow
   * from layer to layer there, and so do steps, the more the deeper the network is; and for wide
   * transformers (T. Brown et al., <i>Language models are few-shot learners</i>, NeurIPS 2020,
   * Table 2.1).
   */
  public static UpdateRule usual(Optimizer kind, LayerGraph graph) {
    boolean plain =
        holds(graph, Operator.Convolution.class)
            && !holds(graph, Operator.Normalization.class)
            && !holds(graph, Operator.TransformerBlock.class);
    boolean wide =
        operators(graph)
            .anyMatch(operator ->
                operator instanceof Operator.TransformerBlock block && block.hidden() > 512);
    return switch (kind) {
      case ADAM -> with(kind, plain || wide ? 3e-4 : 1e-3);
      case MOMENTUM -> with(kind, !plain ? 0.01 : convolutions(graph) > DEEP ? 1e-4 : 1e-3);
      default -> usual(kind);
    };
  }

  private static UpdateRule with(Optimizer kind, double rate) {
    return new UpdateRule(kind, rate, kind == Optimizer.MOMENTUM ? 0.9 : 0, 0);
  }

  private static long convolutions(LayerGraph graph) {
    return operators(graph).filter(Operator.Convolution.class::isInstance).count();
  }

  private static boolean holds(LayerGraph graph, Class<? extends Operator> kind) {
    return operators(graph).anyMatch(kind::isInstance);
  }

  private static Stream<Operator> operators(LayerGraph graph) {
    return graph.layers().stream().flatMap(layer -> layer.steps().stream());
  }
}
