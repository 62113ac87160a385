package dev.pipewright.runtime.net;

import dev.pipewright.model.transformer.FeedForwardShape.Dense;
import dev.pipewright.runtime.tensor.Functions;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Perceptrons of one shape, each for rows of its own. Their weights lie in one tensor for each
 * product, expert by expert; a member of a tensor-parallel group has some of the inner features of
 * each expert, or some of the experts.
 */
final class Experts {
  private final Optional<Product> gate;
  private final Product up;
  private final Product down;

  Experts(Dense shape, int experts, int hidden, FirstValues values, ParallelBlock split) {
    int width = shape.width();
    boolean biased = shape.biases();
    this.gate =
        shape.gated()
            ? Optional.of(
                Product.of("experts.gate", experts, hidden, width, biased, values).cut(split, 1))
            : Optional.empty();
    this.up = Product.of("experts.in", experts, hidden, width, biased, values).cut(split, 1);
    this.down = Product.of("experts.out", experts, width, hidden, biased, values).cut(split, 2);
  }

  List<Parameter> parameters() {
    List<Parameter> all = new ArrayList<>();
    gate.ifPresent(product -> all.addAll(product.parameters()));
    all.addAll(up.parameters());
    all.addAll(down.parameters());
    return all;
  }

  /**
   * What the experts make of their rows.
   *
   * @param rows × hidden, expert by expert
   * @param counts rows of each
   */
  Tensor of(Tensor rows, long[] counts, ForwardPass pass) {
    Optional<Tensor> gates = gate.map(product -> product.made(rows, counts, pass));
    return down.made(Perceptron.inner(gates, up.made(rows, counts, pass)), counts, pass);
  }

  /**
   * A product of each expert; a member of a group that divides experts has some of them.
   *
   * @param weight experts × out × in
   * @param bias experts × out
   */
  private record Product(Parameter weight, Optional<Parameter> bias) {
    private static Product of(
        String name, int experts, int in, int out, boolean biased, FirstValues values) {
      return new Product(
          values.normal(name + ".weight", experts, out, in),
          biased ? Optional.of(values.zeros(name + ".bias", experts, out)) : Optional.empty());
    }

    /** A member's part of it, by the inner features along an axis; it has no biases then. */
    private Product cut(ParallelBlock split, int axis) {
      Optional<TensorParallelGroup> owners = split.expertOwners();
      if (owners.isPresent()) {
        return new Product(
            weight.piece(owners.get(), 0), bias.map(own -> own.piece(owners.get(), 0)));
      }
      return split.tensorGroup().alone()
          ? this
          : new Product(weight.piece(split.tensorGroup(), axis), bias);
    }

    private List<Parameter> parameters() {
      return ParallelProduct.all(weight, bias);
    }

    private Tensor made(Tensor rows, long[] counts, ForwardPass pass) {
      List<Tensor> weights = weight.value().entries(0);
      Optional<List<Tensor>> biases = bias.map(own -> own.value().entries(0));
      List<Tensor> made = new ArrayList<>();
      long first = 0;
      for (int expert = 0; expert < counts.length; expert++) {
        int own = expert;
        Tensor part = rows.part(0, first, counts[expert]);
        made.add(Functions.linear(part, weights.get(own), biases.map(all -> all.get(own))));
        first += counts[expert];
      }
      return pass.used(Tensor.joined(made, 0), parameters());
    }
  }
}
