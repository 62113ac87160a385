package dev.pipewright.model;

import dev.pipewright.units.Check;
import java.util.Optional;

/**
 * A node of a network.
 *
 * @param name as a person would point at it; unique in its graph
 * @param operator what it computes
 * @param output the shape of its output for one sample, where known
 * @param parameters how many numbers are trained
 * @param outputElements elements of its output for one sample
 * @param keptElements elements that the backward pass needs of this layer's forward pass, for one
 *     sample, its own output included where somebody keeps it
 * @param work its arithmetic, {@link Work#NONE} where only measured times are known
 */
public record Layer(
    String name,
    Operator operator,
    Optional<Shape> output,
    long parameters,
    long outputElements,
    long keptElements,
    Work work) {
  public Layer {
    Check.that(
        parameters >= 0, "parameters must be >= 0: layer=%s, parameters=%d", name, parameters);
    Check.that(
        outputElements >= 0 && keptElements >= 0,
        "elements must be >= 0: layer=%s, output=%d, kept=%d",
        name,
        outputElements,
        keptElements);
  }
}
