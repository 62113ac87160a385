package dev.pipewright.runtime.net;

import dev.pipewright.runtime.tensor.Functions;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;
import java.util.Optional;

/** A product with bias inside a transformer's block. */
final class Projection implements Module {
  private final Parameter weight;
  private final Parameter bias;
  private final Optional<ParallelBlock> summed; // where members make terms of the output

  private Projection(Parameter weight, Parameter bias, Optional<ParallelBlock> summed) {
    this.weight = weight;
    this.bias = bias;
    this.summed = summed;
  }

  /**
   * A projection of whose output each member of a group computes a part.
   *
   * @param blocks that follow each other in the output, each cut alike
   * @param unit outputs that stay together
   */
  static Projection into(
      String name, int in, int out, FirstValues values, ParallelBlock split, int blocks, int unit) {
    return new Projection(
        split.outputs(values.normal(name + ".weight", out, in), blocks, unit),
        split.outputs(values.zeros(name + ".bias", out), blocks, unit),
        Optional.empty());
  }

  /** One of whose input each member has some: the output is the sum of what they make. */
  static Projection outOf(
      String name, int in, int out, FirstValues values, ParallelBlock split, int unit) {
    return new Projection(
        split.inputs(values.normal(name + ".weight", out, in), unit),
        values.zeros(name + ".bias", out),
        split.tensorGroup().alone() ? Optional.empty() : Optional.of(split));
  }

  @Override
  public List<Parameter> parameters() {
    return List.of(weight, bias);
  }

  @Override
  public Tensor forward(List<Tensor> inputs, ForwardPass pass) {
    return of(inputs.get(0), pass);
  }

  Tensor of(Tensor states, ForwardPass pass) {
    if (summed.isEmpty()) {
      Tensor product = Functions.linear(states, weight.value(), Optional.of(bias.value()));
      return pass.used(product, parameters());
    }
    Tensor term = Functions.linear(states, weight.value(), Optional.empty());
    Tensor sum = summed.get().sum(pass.used(term, List.of(weight)));
    return pass.used(sum.plus(bias.value()), List.of(bias));
  }
}
