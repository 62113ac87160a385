package dev.pipewright.runtime.net;

import dev.pipewright.runtime.tensor.Functions;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;
import java.util.Optional;

/** Multi-head self-attention with its projections. */
final class SelfAttention implements Module {
  private final int heads;
  private final boolean causal;
  private final Projection into;
  private final Projection out;

  SelfAttention(int hidden, int heads, boolean causal, FirstValues values) {
    this.heads = heads;
    this.causal = causal;
    into = new Projection("attention.in", hidden, 3 * hidden, values);
    out = new Projection("attention.out", hidden, hidden, values);
  }

  @Override
  public List<Parameter> parameters() {
    return new Steps(List.of(into, out)).parameters();
  }

  @Override
  public Tensor forward(List<Tensor> inputs, ForwardPass pass) {
    return forward(inputs.get(0), Optional.empty(), pass);
  }

  /**
   * @param mask samples × steps × steps, where there is one
   */
  Tensor forward(Tensor states, Optional<Tensor> mask, ForwardPass pass) {
    long samples = states.extent(0);
    long steps = states.extent(1);
    long hidden = states.extent(2);
    Tensor three =
        into.of(states, pass)
            .reshaped(samples, steps, 3, heads, hidden / heads)
            .permuted(2, 0, 3, 1, 4);
    Tensor queries = three.at(0, 0);
    Tensor keys = three.at(0, 1);
    Tensor values = three.at(0, 2);
    Tensor attended =
        mask.map(added ->
                Functions.attention(
                    queries, keys, values, added.reshaped(samples, 1, steps, steps)))
            .orElseGet(() -> Functions.attention(queries, keys, values, causal));
    return out.of(attended.transposed(1, 2).reshaped(samples, steps, hidden), pass);
  }
}
