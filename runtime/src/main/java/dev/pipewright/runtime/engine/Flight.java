package dev.pipewright.runtime.engine;

import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;
import java.util.function.IntConsumer;

/** A micro-batch on a stage, from its forward pass to the end of its backward pass. */
interface Flight extends AutoCloseable {
  /**
   * The stage's outputs, which live until they are closed.
   *
   * @param inputs which are closed
   */
  List<Tensor> forward(List<Tensor> inputs);

  /** The gradients of the network's outputs, where the backward pass begins. */
  List<Tensor> answer(List<Tensor> outputs);

  /** Whether the forward pass has kept the input only, and nothing has been computed again. */
  boolean wantsRecomputation();

  /** Computes again what the forward pass has given up. */
  void recompute();

  /**
   * The whole backward pass.
   *
   * @param gradients of the outputs that have one
   * @param left called with each segment after which all is done
   * @return the gradients of the inputs that need one; they live until they are closed
   */
  List<Tensor> backward(List<Tensor> gradients, IntConsumer left);

  /** The first part of the backward pass: the gradients of the inputs, and what the rest needs. */
  List<Tensor> backwardInput(List<Tensor> gradients);

  /** The second part: the gradients of the parameters. */
  void backwardWeight(IntConsumer left);

  /** Adds what it holds. */
  void count(LiveBytes live);

  @Override
  void close();
}
