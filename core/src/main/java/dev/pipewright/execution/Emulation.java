package dev.pipewright.execution;

import dev.pipewright.plan.LayerRange;
import dev.pipewright.units.Check;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * What a run takes the time of, instead of computing: with it, workers are processes that send real
 * messages of real sizes, and wait while a device would compute.
 *
 * @param layers of the network's chain, in order, for the slice of a micro-batch that a worker of
 *     the layer's stage computes
 */
public record Emulation(List<LayerSeconds> layers) {
  /**
   * What a layer takes.
   *
   * @param input its input's gradient
   * @param weight its parameters' gradients
   * @param update the optimizer's step, once per step
   */
  public record LayerSeconds(double forward, double input, double weight, double update) {
    public LayerSeconds {
      Check.amount(forward, "forward seconds");
      Check.amount(input, "input-gradient seconds");
      Check.amount(weight, "weight-gradient seconds");
      Check.amount(update, "update seconds");
    }

    /** Its whole backward pass. */
    public double backward() {
      return input + weight;
    }
  }

  public Emulation {
    layers = List.copyOf(layers);
  }

  /** Seconds of some layers together. */
  public double seconds(LayerRange range, ToDoubleFunction<LayerSeconds> of) {
    double sum = 0;
    for (LayerSeconds layer : layers.subList(range.first(), range.last() + 1)) {
      sum += of.applyAsDouble(layer);
    }
    return sum;
  }
}
