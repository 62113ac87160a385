package dev.pipewright.runtime.net;

import dev.pipewright.model.transformer.FeedForwardShape.Mixture;
import dev.pipewright.runtime.tensor.Functions;
import dev.pipewright.runtime.tensor.Routing;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A mixture of experts: a router sends each token to a few of many perceptrons ({@link Routing}),
 * and all tokens pass shared ones in addition. Nothing balances the experts' load: no loss is added
 * for it, and a bias of the router is one that gradients train, as in GPT-OSS.
 */
final class MixtureModule implements Module {
  private final Mixture shape;
  private final ParallelBlock split;
  private final Parameter router;
  private final Optional<Parameter> routerBias;
  private final Experts experts;
  private final Optional<Perceptron> shared;
  private final Optional<Parameter> sharedGate;

  MixtureModule(Mixture shape, int hidden, FirstValues values, ParallelBlock split) {
    this.shape = shape;
    this.split = split;
    router = values.normal("router.weight", shape.experts(), hidden);
    routerBias =
        shape.routerBias()
            ? Optional.of(values.zeros("router.bias", shape.experts()))
            : Optional.empty();
    experts = new Experts(shape.expert(), shape.experts(), hidden, values, split);
    shared = shape.shared().map(dense -> Perceptron.term(dense, hidden, "shared", values, split));
    sharedGate =
        shape.sharedGate()
            ? Optional.of(values.normal("shared.scale.weight", 1, hidden))
            : Optional.empty();
  }

  @Override
  public List<Parameter> parameters() {
    List<Parameter> all = new ArrayList<>(ParallelProduct.all(router, routerBias));
    all.addAll(experts.parameters());
    shared.ifPresent(perceptron -> all.addAll(perceptron.parameters()));
    sharedGate.ifPresent(all::add);
    return all;
  }

  @Override
  public Tensor forward(List<Tensor> inputs, ForwardPass pass) {
    Tensor states = inputs.get(0);
    boolean alone = split.tensorGroup().alone();
    return alone || split.expertOwners().isEmpty() ? summed(states, pass) : ofOwners(states, pass);
  }

  /**
   * Each member of a tensor-parallel group makes a term of the output from what all read, and finds
   * all of the weights of experts by itself.
   */
  private Tensor summed(Tensor states, ForwardPass pass) {
    Tensor all = split.read(states);
    Tensor scored = rows(split.steps() ? all : states);
    Tensor routed = routed(rows(all), scored, pass);
    Tensor both =
        shared
            .map(perceptron -> routed.plus(shared(perceptron, rows(all), scored, pass)))
            .orElse(routed);
    Tensor term = both.reshaped(all.shape());
    return split.tensorGroup().alone() ? term : split.sum(term);
  }

  /**
   * Where members of a tensor-parallel group have whole experts, each sends its own tokens to
   * these; of the shared experts it makes a term from what all read.
   */
  private Tensor ofOwners(Tensor states, ForwardPass pass) {
    Tensor routed = routed(rows(states), rows(states), pass).reshaped(states.shape());
    if (shared.isEmpty()) {
      return routed;
    }
    Tensor all = split.read(states);
    Tensor term = shared(shared.get(), rows(all), rows(all), pass);
    return routed.plus(split.sum(term.reshaped(all.shape())));
  }

  /**
   * What the experts that are chosen for each token make of it.
   *
   * @param scored the tokens as the router reads them
   */
  private Tensor routed(Tensor tokens, Tensor scored, ForwardPass pass) {
    Tensor scores = Functions.linear(scored, router.value(), routerBias.map(Parameter::value));
    Routing routing =
        new Routing(pass.used(scores, ParallelProduct.all(router, routerBias)), shape.chosen());
    Tensor weights = split.factor(routing.weights());
    return routing.combined(made(routing.sent(tokens), routing.counts(), pass), weights);
  }

  private Tensor shared(Perceptron perceptron, Tensor tokens, Tensor scored, ForwardPass pass) {
    return scaled(perceptron.forward(List.of(tokens), pass), scored, pass);
  }

  /** What experts make of rows, wherever they are. */
  private Tensor made(Tensor rows, long[] counts, ForwardPass pass) {
    return split
        .expertOwners()
        .map(group ->
            new ExpertOwners(group, shape.experts())
                .made(rows, counts, pass, (own, each) -> experts.of(own, each, pass)))
        .orElseGet(() -> experts.of(rows, counts, pass));
  }

  private static Tensor rows(Tensor states) {
    return states.reshaped(states.extent(0) * states.extent(1), states.extent(2));
  }

  /** What the shared experts make, times their gate. */
  private Tensor scaled(Tensor made, Tensor scored, ForwardPass pass) {
    return sharedGate
        .map(gate -> {
          Tensor scores = Functions.linear(scored, gate.value(), Optional.empty());
          Tensor open = Functions.sigmoid(pass.used(scores, List.of(gate)));
          return made.times(split.factor(open));
        })
        .orElse(made);
  }
}
