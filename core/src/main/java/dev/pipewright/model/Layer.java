package dev.pipewright.model;

import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A node of a network.
 *
 * @param name as a person would point at it; unique in its graph
 * @param operator what it computes, or that of its operators which its arithmetic is about
 * @param steps all that it computes: the first operator reads what the layer reads, each further
 *     one what the one before it hands on
 * @param output the shape of its output for one sample, where known
 * @param parameters how many numbers are trained
 * @param outputElements elements of its output for one sample
 * @param keptElements elements that the backward pass needs of this layer's forward pass, for one
 *     sample, its own output included where that is kept
 * @param work its arithmetic, {@link Work#NONE} where only measured times are known
 */
public record Layer(
    String name,
    Operator operator,
    List<Operator> steps,
    Optional<Shape> output,
    long parameters,
    long outputElements,
    long keptElements,
    Work work) {
  public Layer {
    steps = List.copyOf(steps);
    Check.that(!steps.isEmpty(), "a layer computes something: layer=%s", name);
    Check.that(
        parameters >= 0, "parameters must be >= 0: layer=%s, parameters=%d", name, parameters);
    Check.that(
        outputElements >= 0 && keptElements >= 0,
        "elements must be >= 0: layer=%s, output=%d, kept=%d",
        name,
        outputElements,
        keptElements);
  }

  /** A layer of one operator. */
  public Layer(
      String name,
      Operator operator,
      Optional<Shape> output,
      long parameters,
      long outputElements,
      long keptElements,
      Work work) {
    this(name, operator, List.of(operator), output, parameters, outputElements, keptElements, work);
  }

  /** The same layer, which computes exactly these operators. */
  public Layer computing(List<Operator> all) {
    return new Layer(name, operator, all, output, parameters, outputElements, keptElements, work);
  }

  /** The same layer, which computes this too; its numbers have it in them already. */
  public Layer then(Operator following) {
    List<Operator> all = new ArrayList<>(steps);
    all.add(following);
    return computing(all);
  }
}
