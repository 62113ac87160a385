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
  private final ParallelProduct split;
  private final CutWindows windows;
  private final long[] stride;
  private final long[] dilation;
  private final int groups;
  private final int outputs;

  ConvolutionModule(
      Operator.Convolution operator,
      FirstValues values,
      ParallelProduct split,
      CutWindows windows) {
    this.split = split;
    this.windows = windows;
    int axes = operator.kernel().size();
    long[] shape = new long[axes + 2];
    shape[0] = operator.outChannels();
    shape[1] = operator.inChannels() / operator.groups();
    double inputs = shape[1];
    for (int axis = 0; axis < axes; axis++) {
      shape[axis + 2] = operator.kernel().get(axis);
      inputs *= shape[axis + 2];
    }
    weight = split.weight(values.product("weight", shape));
    bias =
        operator.bias()
            ? Optional.of(split.bias(values.bias("bias", inputs, operator.outChannels())))
            : Optional.empty();
    outputs = operator.outChannels();
    stride = array(operator.stride());
    dilation = array(operator.dilation());
    groups = operator.groups();
  }

  /** One number for each axis. */
  static long[] array(List<Integer> perAxis) {
    return perAxis.stream().mapToLong(Integer::longValue).toArray();
  }

  @Override
  public List<Parameter> parameters() {
    return ParallelProduct.all(weight, bias);
  }

  @Override
  public Tensor forward(List<Tensor> inputs, ForwardPass pass) {
    Tensor product =
        Functions.convolution(
            windows.read(split.read(inputs.get(0), 1), 0),
            weight.value(),
            split.within(bias),
            stride,
            windows.padding(),
            dilation,
            groups);
    return split.made(product, 1, outputs, weight, bias, pass);
  }
}
