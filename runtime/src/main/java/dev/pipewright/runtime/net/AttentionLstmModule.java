package dev.pipewright.runtime.net;

import dev.pipewright.model.Operator;
import dev.pipewright.runtime.tensor.Functions;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The first layer of GNMT's decoder. Its states s attend to the encoder's outputs e: the score of a
 * pair is v · tanh(Qs + Ke), what is attended to the average of the outputs by the scores' softmax
 * (D. Bahdanau et al., ICLR 2015, §A.1.2).
 */
final class AttentionLstmModule implements Module {
  private final EmbeddingModule embedding;
  private final LstmModule lstm;
  private final Parameter queries;
  private final Parameter keys;
  private final Parameter scores;

  AttentionLstmModule(Operator.AttentionLstm operator, FirstValues values) {
    int hidden = operator.hidden();
    embedding =
        new EmbeddingModule(
            new Operator.Embedding(operator.vocabulary(), hidden), values, Optional.empty());
    lstm = new LstmModule(hidden, hidden, false, values);
    queries = values.product("queries", hidden, hidden);
    keys = values.product("keys", hidden, hidden);
    scores = values.product("scores", 1, hidden);
  }

  @Override
  public List<Parameter> parameters() {
    List<Parameter> all =
        new ArrayList<>(new LayerOperators(List.of(embedding, lstm)).parameters());
    all.addAll(List.of(queries, keys, scores));
    return all;
  }

  /** Reads the encoder's outputs and the target's words, in either order. */
  @Override
  public Tensor forward(List<Tensor> inputs, ForwardPass pass) {
    boolean wordsFirst = inputs.get(0).whole();
    Tensor encoded = inputs.get(wordsFirst ? 1 : 0);
    Tensor words = embedding.forward(List.of(inputs.get(wordsFirst ? 0 : 1)), pass);
    Tensor states = lstm.forward(List.of(words), pass);
    Tensor attended = attended(states, encoded, pass);
    return Tensor.joined(List.of(states, attended), 2);
  }

  private Tensor attended(Tensor states, Tensor encoded, ForwardPass pass) {
    long samples = states.extent(0);
    long to = states.extent(1);
    long from = encoded.extent(1);
    long hidden = states.extent(2);
    Tensor asked = product(states, queries, pass).reshaped(samples, to, 1, hidden);
    Tensor offered = product(encoded, keys, pass).reshaped(samples, 1, from, hidden);
    Tensor pairs = product(Functions.tanh(asked.plus(offered)), scores, pass);
    Tensor shares = Functions.softmax(pairs.reshaped(samples, to, from), 2);
    return shares.product(encoded);
  }

  private static Tensor product(Tensor input, Parameter weight, ForwardPass pass) {
    Tensor product = Functions.linear(input, weight.value(), Optional.empty());
    return pass.used(product, List.of(weight));
  }
}
