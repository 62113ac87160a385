package dev.pipewright.runtime.data;

import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;

/**
 * Some samples.
 *
 * @param inputs a tensor for each layer of the network that reads no other, samples along the first
 *     axis: images as channels × extents in floating point, token numbers as whole numbers
 * @param target what the network should answer: a class for each row of scores, or values
 */
public record Batch(List<Tensor> inputs, Tensor target) {
  public Batch {
    inputs = List.copyOf(inputs);
  }
}
