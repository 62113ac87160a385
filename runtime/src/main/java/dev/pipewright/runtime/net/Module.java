package dev.pipewright.runtime.net;

import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;

/** What a layer computes, with what it has learnt. */
public interface Module {
  /** The numbers that are trained, always in the same order. */
  default List<Parameter> parameters() {
    return List.of();
  }

  /** Numbers that training brings up to date without a gradient, such as running averages. */
  default List<Parameter> averages() {
    return List.of();
  }

  /**
   * The layer's output.
   *
   * @param inputs in the order of the graph's edges, samples along the first axis of each
   */
  Tensor forward(List<Tensor> inputs, ForwardPass pass);
}
