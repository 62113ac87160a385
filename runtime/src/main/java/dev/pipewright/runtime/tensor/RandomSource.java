package dev.pipewright.runtime.tensor;

import org.bytedeco.pytorch.Generator;
import org.bytedeco.pytorch.GeneratorOptional;
import org.bytedeco.pytorch.global.torch;

/** Random numbers from a seed: the same whatever else draws numbers, on any device. */
public final class RandomSource implements AutoCloseable {
  private final Generator generator;
  private final GeneratorOptional argument;

  public RandomSource(long seed) {
    generator = torch.make_generator_cpu(seed);
    argument = new GeneratorOptional(generator);
  }

  /** Numbers between the bounds, equally likely. */
  public Tensor uniform(double low, double high, long... shape) {
    return new Tensor(
        NewTensors.placed(NewTensors.onHost(false, shape).uniform_(low, high, argument)));
  }

  /** Numbers with mean 0. */
  public Tensor normal(double deviation, long... shape) {
    return new Tensor(
        NewTensors.placed(NewTensors.onHost(false, shape).normal_(0, deviation, argument)));
  }

  @Override
  public void close() {
    argument.close();
    generator.close();
  }
}
