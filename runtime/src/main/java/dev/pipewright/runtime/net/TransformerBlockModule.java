package dev.pipewright.runtime.net;

import dev.pipewright.model.Operator;
import dev.pipewright.runtime.tensor.Functions;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;
import java.util.Optional;

/**
 * Attention and a perceptron, each with a normalisation and a residual sum. GPT and ViT normalise
 * what the two read, BERT what the sums are.
 */
final class TransformerBlockModule implements Module {
  private final Operator.TransformerBlock operator;
  private final ParallelBlock split;
  private final LayerNormalizationModule attentionNorm;
  private final SelfAttention attention;
  private final LayerNormalizationModule perceptronNorm;
  private final Projection up;
  private final Projection down;

  TransformerBlockModule(
      Operator.TransformerBlock operator, FirstValues values, ParallelBlock split) {
    int hidden = operator.hidden();
    this.split = split;
    this.operator = operator;
    attentionNorm = new LayerNormalizationModule("attention.", hidden, values);
    attention = new SelfAttention(hidden, operator.heads(), operator.causal(), values, split);
    perceptronNorm = new LayerNormalizationModule("perceptron.", hidden, values);
    up = Projection.into("perceptron.in", hidden, 4 * hidden, values, split, 1, 1);
    down = Projection.outOf("perceptron.out", 4 * hidden, hidden, values, split, 1);
  }

  @Override
  public List<Parameter> parameters() {
    return new LayerOperators(List.of(attentionNorm, attention, perceptronNorm, up, down))
        .parameters();
  }

  @Override
  public Tensor forward(List<Tensor> inputs, ForwardPass pass) {
    Tensor input = inputs.get(0);
    long hidden = operator.hidden();
    if (input.extent(2) == hidden) {
      return forward(input, Optional.empty(), pass);
    }
    Tensor mask = input.part(2, hidden, input.extent(2) - hidden).detached();
    return forward(input.part(2, 0, hidden), Optional.of(mask), pass);
  }

  private Tensor forward(Tensor input, Optional<Tensor> mask, ForwardPass pass) {
    if (operator.normalizedFirst()) {
      Tensor attended = attention.forward(norm(attentionNorm, input, pass), mask, pass);
      Tensor states = input.plus(attended);
      return states.plus(perceptron(norm(perceptronNorm, states, pass), pass));
    }
    Tensor states = norm(attentionNorm, input.plus(attention.forward(input, mask, pass)), pass);
    return norm(perceptronNorm, states.plus(perceptron(states, pass)), pass);
  }

  private static Tensor norm(Module norm, Tensor states, ForwardPass pass) {
    return norm.forward(List.of(states), pass);
  }

  private Tensor perceptron(Tensor states, ForwardPass pass) {
    return down.of(Functions.gelu(up.of(split.read(states), pass)), pass);
  }
}
