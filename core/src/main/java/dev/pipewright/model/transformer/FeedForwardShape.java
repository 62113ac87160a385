package dev.pipewright.model.transformer;

import dev.pipewright.units.Check;
import java.util.Optional;

/** What follows the attention in a block. Below, h is the hidden size of the network. */
public sealed interface FeedForwardShape {
  /** Elements learned. */
  long parameters(int hidden);

  /** Those that take part in a token's output. */
  long activeParameters(int hidden);

  /** Elements of the matrices that each token is multiplied by. */
  long weights(int hidden);

  /** Elements of a token that the backward pass reads inside. */
  double keptElements(int hidden);

  /** Elements of a token that element-wise work inside moves in the forward pass. */
  double movedElements(int hidden);

  /**
   * A perceptron with one inner layer.
   *
   * <p>Source of gates: N. Shazeer, <i>GLU variants improve transformer</i>, arXiv:2002.05202.
   *
   * @param width features of the inner layer
   * @param gated whether a second product of the input multiplies the inner layer (SwiGLU, GeGLU)
   * @param biases whether all products have them
   */
  record Dense(int width, boolean gated, boolean biases) implements FeedForwardShape {
    public Dense {
      Counts.size("feed_forward_width", width);
    }

    /** Products into the inner layer. */
    public int inward() {
      return gated ? 2 : 1;
    }

    @Override
    public long weights(int hidden) {
      return Counts.product(inward() + 1L, hidden, width);
    }

    @Override
    public long parameters(int hidden) {
      return Counts.sum(weights(hidden), Counts.where(biases, (long) inward() * width + hidden));
    }

    @Override
    public long activeParameters(int hidden) {
      return parameters(hidden);
    }

    @Override
    public double keptElements(int hidden) {
      return (inward() + 1.0) * width;
    }

    @Override
    public double movedElements(int hidden) {
      return 2.0 * inward() * width;
    }
  }

  /**
   * A mixture of experts: a router sends each token to a few of many perceptrons.
   *
   * <p>Sources: W. Fedus et al., <i>Switch transformers</i>, JMLR 2022; D. Dai et al.,
   * <i>DeepSeekMoE</i>, arXiv:2401.06066 (shared experts); DeepSeek-AI, <i>DeepSeek-V3</i>,
   * arXiv:2412.19437, §2.1.2 (a bias for each expert that balances the load; counted as a
   * parameter).
   *
   * @param experts that tokens are routed to
   * @param chosen experts of a token
   * @param expert one of them
   * @param routerBias whether each expert has a bias in the router
   * @param shared what all tokens pass in addition, as one perceptron
   * @param sharedGate whether a learned gate of h elements scales that (Qwen)
   */
  record Mixture(
      int experts,
      int chosen,
      Dense expert,
      boolean routerBias,
      Optional<Dense> shared,
      boolean sharedGate)
      implements FeedForwardShape {
    public Mixture {
      Counts.size("experts", experts);
      Check.that(
          1 <= chosen && chosen <= experts,
          "experts_per_token=%d is not from 1 to experts=%d; correct one of them",
          chosen,
          experts);
      Check.that(
          !sharedGate || shared.isPresent(),
          "there is a gate of shared experts, but no shared expert; leave out the gate");
    }

    @Override
    public long parameters(int hidden) {
      return Counts.sum(remaining(hidden), Counts.product(experts, expert.parameters(hidden)));
    }

    @Override
    public long activeParameters(int hidden) {
      return Counts.sum(remaining(hidden), Counts.product(chosen, expert.parameters(hidden)));
    }

    /** The router and what all tokens pass. */
    private long remaining(int hidden) {
      return Counts.sum(
          Counts.product(experts, hidden),
          Counts.where(routerBias, experts),
          shared.map(dense -> dense.parameters(hidden)).orElse(0L),
          Counts.where(sharedGate, hidden));
    }

    @Override
    public long weights(int hidden) {
      return Counts.sum(
          Counts.product(experts, hidden),
          Counts.product(chosen, expert.weights(hidden)),
          shared.map(dense -> dense.weights(hidden)).orElse(0L),
          Counts.where(sharedGate, hidden));
    }

    /** Also the states that travel to the experts and back, and the router's scores. */
    @Override
    public double keptElements(int hidden) {
      double scores = 4.5 * experts; // in 32 bits, twice, and a flag
      return scores
          + chosen * (2.0 * hidden + expert.keptElements(hidden))
          + shared.map(dense -> dense.keptElements(hidden)).orElse(0.0);
    }

    @Override
    public double movedElements(int hidden) {
      return chosen * (4.0 * hidden + expert.movedElements(hidden))
          + shared.map(dense -> dense.movedElements(hidden)).orElse(0.0);
    }
  }
}
