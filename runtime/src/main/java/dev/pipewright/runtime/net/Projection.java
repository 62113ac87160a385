package dev.pipewright.runtime.net;

import dev.pipewright.runtime.tensor.Functions;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;
import java.util.Optional;

/** A product inside a transformer's block, with a bias or without. */
final class Projection implements Module {
  private final Parameter weight;
  private final Optional<Parameter> bias;
  private final Optional<ParallelBlock> summed; // where members make terms of the output

  private Projection(Parameter weight, Optional<Parameter> bias, Optional<ParallelBlock> summed) {
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
        Optional.of(split.outputs(values.zeros(name + ".bias", out), blocks, unit)),
        Optional.empty());
  }

  /**
   * The same, in one block.
   *
   * @param biased whether it has biases
   */
  static Projection into(
      String name,
      int in,
      int out,
      boolean biased,
      FirstValues values,
      ParallelBlock split,
      int unit) {
    Parameter weight = split.outputs(values.normal(name + ".weight", out, in), 1, unit);
    Optional<Parameter> bias =
        biased
            ? Optional.of(split.outputs(values.zeros(name + ".bias", out), 1, unit))
            : Optional.empty();
    return new Projection(weight, bias, Optional.empty());
  }

  /** One of whose input each member has some: the output is the sum of what they make. */
  static Projection outOf(
      String name, int in, int out, FirstValues values, ParallelBlock split, int unit) {
    return outOf(name, in, out, true, values, split, unit);
  }

  /**
   * The same.
   *
   * @param biased whether it has a bias
   */
  static Projection outOf(
      String name,
      int in,
      int out,
      boolean biased,
      FirstValues values,
      ParallelBlock split,
      int unit) {
    return new Projection(
        split.inputs(values.normal(name + ".weight", out, in), unit),
        biased ? Optional.of(values.zeros(name + ".bias", out)) : Optional.empty(),
        split.tensorGroup().alone() ? Optional.empty() : Optional.of(split));
  }

  /** The same without a bias, where the terms of all members are summed later. */
  static Projection term(
      String name, int in, int out, FirstValues values, ParallelBlock split, int unit) {
    Parameter weight = split.inputs(values.normal(name + ".weight", out, in), unit);
    return new Projection(weight, Optional.empty(), Optional.empty());
  }

  @Override
  public List<Parameter> parameters() {
    return ParallelProduct.all(weight, bias);
  }

  @Override
  public Tensor forward(List<Tensor> inputs, ForwardPass pass) {
    return of(inputs.get(0), pass);
  }

  Tensor of(Tensor states, ForwardPass pass) {
    if (summed.isEmpty()) {
      Tensor product = Functions.linear(states, weight.value(), bias.map(Parameter::value));
      return pass.used(product, parameters());
    }
    Tensor term = Functions.linear(states, weight.value(), Optional.empty());
    Tensor sum = summed.get().sum(pass.used(term, List.of(weight)));
    return bias.map(own -> pass.used(sum.plus(own.value()), List.of(own))).orElse(sum);
  }
}
