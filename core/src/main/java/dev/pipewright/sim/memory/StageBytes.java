package dev.pipewright.sim.memory;

import dev.pipewright.units.Check;

/**
 * Bytes of one stage on a rank that holds it.
 *
 * @param parameters one version of them
 * @param gradients their sum over the micro-batches of a step
 * @param optimizer the optimizer's state
 * @param activation what a micro-batch keeps from its forward pass on, its input included
 * @param input what it keeps instead until its recomputation, where the program has one
 * @param last what the step's last micro-batch keeps beyond {@code activation} from its forward
 *     pass on, and its backward pass needs less of {@code working}
 * @param weightShare the part of the activation, 0 to 1, that only the weights' gradient frees; the
 *     input's gradient frees the rest, a whole backward pass both
 * @param recomputed the part of {@code working} that the input's gradient leaves for the weights'
 *     gradient
 * @param working beyond all that while a backward pass or half of it runs
 * @param message the output of a micro-batch on its way to the next stage, and the gradient back
 */
public record StageBytes(
    double parameters,
    double gradients,
    double optimizer,
    double activation,
    double input,
    double last,
    double weightShare,
    double recomputed,
    double working,
    double message) {
  public StageBytes {
    Check.amount(parameters, "parameter bytes");
    Check.amount(gradients, "gradient bytes");
    Check.amount(optimizer, "optimizer bytes");
    Check.amount(activation, "activation bytes");
    Check.amount(working, "working bytes");
    Check.that(
        0 <= last && last <= working,
        "the last micro-batch keeps what a backward pass needs: last=%s, working=%s",
        last,
        working);
    Check.that(
        0 <= recomputed && recomputed <= working,
        "what is recomputed is a part of the working space: recomputed=%s, working=%s",
        recomputed,
        working);
    Check.amount(message, "message bytes");
    Check.that(
        0 <= input && input <= activation,
        "an activation includes its input: input=%s, activation=%s",
        input,
        activation);
    Check.that(
        0 <= weightShare && weightShare <= 1,
        "the weights' share of an activation is 0 to 1: share=%s",
        weightShare);
  }

  /** A stage that treats all micro-batches alike. */
  public StageBytes(
      double parameters,
      double gradients,
      double optimizer,
      double activation,
      double input,
      double weightShare,
      double working,
      double message) {
    this(parameters, gradients, optimizer, activation, input, 0, weightShare, 0, working, message);
  }

  /** A stage of which only the activations count; the weights' gradient frees them. */
  public static StageBytes activations(double activation) {
    return new StageBytes(0, 0, 0, activation, 0, 1, 0, 0);
  }
}
