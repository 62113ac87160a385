package dev.pipewright.runtime.net;

import dev.pipewright.model.Operator;
import dev.pipewright.runtime.tensor.Functions;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;
import java.util.Optional;

/**
 * A product with a matrix over the last axis. Where a layer returns one row of features, it
 * flattens a map first and reads the first step of a sequence.
 */
final class LinearModule implements Module {
  private final Parameter weight;
  private final Optional<Parameter> bias;
  private final ParallelProduct split;
  private final Operator.Linear operator;
  private final boolean oneRow;

  /**
   * @param oneRow whether one row of features comes out for each sample
   */
  LinearModule(
      Operator.Linear operator, boolean oneRow, FirstValues values, ParallelProduct split) {
    this.operator = operator;
    this.oneRow = oneRow;
    this.split = split;
    weight = split.weight(values.product("weight", operator.out(), operator.in()));
    bias =
        operator.bias()
            ? Optional.of(split.bias(values.bias("bias", operator.in(), operator.out())))
            : Optional.empty();
  }

  @Override
  public List<Parameter> parameters() {
    return ParallelProduct.all(weight, bias);
  }

  @Override
  public Tensor forward(List<Tensor> inputs, ForwardPass pass) {
    Tensor rows = oneRow ? row(inputs.get(0)) : inputs.get(0);
    int features = rows.shape().length - 1;
    Tensor read = split.read(rows, features);
    Tensor product = Functions.linear(read, weight.value(), split.within(bias));
    return split.made(product, features, operator.out(), weight, bias, pass);
  }

  private Tensor row(Tensor input) {
    long in = operator.in();
    long elements = input.elements() / input.extent(0);
    return elements == in ? input.flattened(1) : input.at(1, 0).part(1, 0, in);
  }
}
