package dev.pipewright.runtime.net;

import dev.pipewright.model.Operator;
import dev.pipewright.runtime.tensor.Functions;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;
import java.util.Optional;

/** A convolution over two or three spatial axes. */
final class ConvolutionModule implements Module {
  private final Parameter weight;
  private final Optional<Parameter> bias;
  private final long[] stride;
  private final long[] padding;
  private final long[] dilation;
  private final int groups;

  ConvolutionModule(Operator.Convolution operator, FirstValues values) {
    int axes = operator.kernel().size();
    long[] shape = new long[axes + 2];
    shape[0] = operator.outChannels();
    shape[1] = operator.inChannels() / operator.groups();
    double inputs = shape[1];
    for (int axis = 0; axis < axes; axis++) {
      shape[axis + 2] = operator.kernel().get(axis);
      inputs *= shape[axis + 2];
    }
    weight = values.product("weight", shape);
    bias =
        operator.bias()
            ? Optional.of(values.bias("bias", inputs, operator.outChannels()))
            : Optional.empty();
    stride = array(operator.stride());
    padding = array(operator.padding());
    dilation = array(operator.dilation());
    groups = operator.groups();
  }

  /** One number for each axis. */
  static long[] array(List<Integer> perAxis) {
    return perAxis.stream().mapToLong(Integer::longValue).toArray();
  }

  @Override
  public List<Parameter> parameters() {
    return bias.map(present -> List.of(weight, present)).orElse(List.of(weight));
  }

  @Override
  public Tensor forward(List<Tensor> inputs, ForwardPass pass) {
    Tensor output =
        Functions.convolution(
            inputs.get(0),
            weight.value(),
            bias.map(Parameter::value),
            stride,
            padding,
            dilation,
            groups);
    return pass.used(output, parameters());
  }
}
