package dev.pipewright.runtime.net;

import dev.pipewright.model.transformer.FeedForwardShape.Dense;
import dev.pipewright.runtime.tensor.Functions;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A perceptron with one inner layer: two products with a GELU between them, or a third product of
 * the input that the inner layer's SiLU gates (SwiGLU: N. Shazeer, arXiv:2002.05202). A shape does
 * not name its function; these are the usual ones.
 */
final class Perceptron implements Module {
  private final Optional<ParallelBlock> reads; // where nothing before it has read the states
  private final Optional<Projection> gate;
  private final Projection up;
  private final Projection down;

  private Perceptron(
      Optional<ParallelBlock> reads, Optional<Projection> gate, Projection up, Projection down) {
    this.reads = reads;
    this.gate = gate;
    this.up = up;
    this.down = down;
  }

  /** One that makes states. */
  static Perceptron of(
      Dense shape, int hidden, String name, FirstValues values, ParallelBlock split) {
    Projection down =
        Projection.outOf(name + ".out", shape.width(), hidden, shape.biases(), values, split, 1);
    return with(Optional.of(split), down, shape, hidden, name, values, split);
  }

  /** One that reads what all members of a group have read, and makes terms that they sum later. */
  static Perceptron term(
      Dense shape, int hidden, String name, FirstValues values, ParallelBlock split) {
    Projection down =
        split.tensorGroup().alone()
            ? Projection.outOf(
                name + ".out", shape.width(), hidden, shape.biases(), values, split, 1)
            : Projection.term(name + ".out", shape.width(), hidden, values, split, 1);
    return with(Optional.empty(), down, shape, hidden, name, values, split);
  }

  private static Perceptron with(
      Optional<ParallelBlock> reads,
      Projection down,
      Dense shape,
      int hidden,
      String name,
      FirstValues values,
      ParallelBlock split) {
    Optional<Projection> gate =
        shape.gated()
            ? Optional.of(
                Projection.into(
                    name + ".gate", hidden, shape.width(), shape.biases(), values, split, 1))
            : Optional.empty();
    Projection up =
        Projection.into(name + ".in", hidden, shape.width(), shape.biases(), values, split, 1);
    return new Perceptron(reads, gate, up, down);
  }

  @Override
  public List<Parameter> parameters() {
    List<Module> modules = new ArrayList<>();
    gate.ifPresent(modules::add);
    modules.addAll(List.of(up, down));
    return new LayerOperators(modules).parameters();
  }

  @Override
  public Tensor forward(List<Tensor> inputs, ForwardPass pass) {
    Tensor read = reads.map(split -> split.read(inputs.get(0))).orElse(inputs.get(0));
    Optional<Tensor> gates = gate.map(product -> product.of(read, pass));
    return down.of(inner(gates, up.of(read, pass)), pass);
  }

  /** What the inner layer makes of its products. */
  static Tensor inner(Optional<Tensor> gates, Tensor inner) {
    return gates
        .map(own -> Functions.silu(own).times(inner))
        .orElseGet(() -> Functions.gelu(inner));
  }
}
