package dev.pipewright.runtime.net;

import dev.pipewright.runtime.tensor.Functions;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;
import java.util.Optional;

/** Multi-head self-attention with its projections. */
final class SelfAttention implements Module {
  private final ParallelBlock split;
  private final int heads; // this worker's
  private final int features; // of a head
  private final boolean causal;
  private final Projection into;
  private final Projection out;

  SelfAttention(int hidden, int heads, boolean causal, FirstValues values, ParallelBlock split) {
    this.split = split;
    this.heads = split.own(heads);
    this.causal = causal;
    this.features = hidden / heads;
    into = Projection.into("attention.in", hidden, 3 * hidden, values, split, 3, features);
    out = Projection.outOf("attention.out", hidden, hidden, values, split, features);
  }

  @Override
  public List<Parameter> parameters() {
    return new LayerOperators(List.of(into, out)).parameters();
  }

  @Override
  public Tensor forward(List<Tensor> inputs, ForwardPass pass) {
    return forward(inputs.get(0), Optional.empty(), pass);
  }

  /**
   * @param mask samples × steps × steps, where there is one
   */
  Tensor forward(Tensor states, Optional<Tensor> mask, ForwardPass pass) {
    Tensor read = split.read(states);
    long samples = read.extent(0);
    long steps = read.extent(1);
    List<Tensor> three =
        split.context().alone()
            ? into.of(read, pass).reshaped(samples, steps, 3, heads, features).entries(2)
            : ofAllTokens(into.of(read, pass));
    Tensor queries = three.get(0).transposed(1, 2);
    Tensor keys = three.get(1).transposed(1, 2);
    Tensor values = three.get(2).transposed(1, 2);
    Tensor attended =
        mask.map(added ->
                Functions.attention(
                    queries, keys, values, added.reshaped(samples, 1, steps, added.extent(2))))
            .orElseGet(() -> split.attended(queries, keys, values, causal));
    return out.of(attended.transposed(1, 2).flattened(2), pass);
  }

  /** Queries of this worker's tokens, keys and values of all; each samples × tokens × heads × … */
  private List<Tensor> ofAllTokens(Tensor made) {
    long samples = made.extent(0);
    long width = (long) heads * features;
    Tensor queries = made.part(2, 0, width).reshaped(samples, made.extent(1), heads, features);
    Tensor both = split.ofAllTokens(made.part(2, width, 2 * width));
    List<Tensor> two = both.reshaped(samples, both.extent(1), 2, heads, features).entries(2);
    return List.of(queries, two.get(0), two.get(1));
  }
}
