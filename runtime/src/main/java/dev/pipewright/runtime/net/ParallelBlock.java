package dev.pipewright.runtime.net;

import dev.pipewright.runtime.tensor.Functions;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.Optional;

/**
 * Parallelism of a transformer block. Tensor parallelism: by heads and MLP features, and under
 * sequence parallelism also by the steps of what treats each step alone (M. Shoeybi et al.,
 * <i>Megatron-LM</i>, 2019, §3; V. Korthikanti et al., <i>Reducing activation recomputation in
 * large transformer models</i>, 2022, §4.2.2). Context parallelism: by tokens, with keys and values
 * gathered for attention (A. Dubey et al., <i>The Llama 3 herd of models</i>, 2024, §3.3.2). Expert
 * parallelism: with some of the experts of a mixture.
 *
 * @param steps whether the block reads and makes some of the steps of its sequences
 * @param sequence steps of a whole one
 * @param context who has the other tokens of its sequences
 * @param experts who has the other experts
 */
record ParallelBlock(
    TensorParallelGroup tensorGroup,
    boolean steps,
    int sequence,
    TensorParallelGroup context,
    TensorParallelGroup experts) {

  private TensorCut cut() {
    long own = context.alone() ? sequence : context.own(sequence).count();
    return TensorCut.of(tensorGroup, 1, own);
  }

  /** A parameter of which each member has what makes its outputs. */
  Parameter outputs(Parameter whole, int blocks, int unit) {
    return tensorGroup.alone() ? whole : whole.piece(tensorGroup, 0, blocks, unit);
  }

  /** A parameter of which each member has what reads its inputs. */
  Parameter inputs(Parameter whole, int unit) {
    return tensorGroup.alone() ? whole : whole.piece(tensorGroup, 1, 1, unit);
  }

  /** This member's share of a number of things. */
  int own(int all) {
    return (int) tensorGroup.own(all).count();
  }

  /** What all members read, each for its own outputs. */
  Tensor read(Tensor states) {
    if (tensorGroup.alone()) {
      return states;
    }
    GroupCommunication between = new GroupCommunication(tensorGroup);
    return steps ? between.gatheredForParts(states, cut()) : between.shared(states);
  }

  /**
   * A factor of what each member makes a term of: its gradient is the sum of all members'. Where a
   * block has some steps of its sequences, the factor's own parameters are summed instead.
   */
  Tensor factor(Tensor whole) {
    return tensorGroup.alone() || steps ? whole : new GroupCommunication(tensorGroup).shared(whole);
  }

  /** The sum of what all members make, or their own steps of it. */
  Tensor sum(Tensor term) {
    GroupCommunication between = new GroupCommunication(tensorGroup);
    return steps ? between.ownOfSum(term, cut()) : between.sum(term);
  }

  /** Those who have the experts of a mixture, where they are divided. */
  Optional<TensorParallelGroup> expertOwners() {
    return experts.alone() ? Optional.empty() : Optional.of(experts);
  }

  /** The first of this worker's tokens. */
  long firstToken() {
    return context.alone() ? 0 : context.own(sequence).first();
  }

  /**
   * Attention of this worker's queries to keys and values of all tokens; each samples × heads ×
   * tokens × features of a head.
   *
   * @param causal whether a token attends to no later one
   */
  Tensor attended(Tensor queries, Tensor keys, Tensor values, boolean causal) {
    if (!causal || context.alone()) {
      return Functions.attention(queries, keys, values, causal);
    }
    long first = firstToken();
    long seen = first + queries.extent(2);
    Tensor seenKeys = keys.part(2, 0, seen);
    Tensor seenValues = values.part(2, 0, seen);
    return first == 0
        ? Functions.attention(queries, seenKeys, seenValues, true)
        : Functions.attention(queries, seenKeys, seenValues, context.hidingLater(first, seen));
  }

  /**
   * Keys and values of all tokens; the gradient of a worker's is the sum of what all attend to.
   *
   * @param own samples × tokens × features
   */
  Tensor ofAllTokens(Tensor own) {
    return context.alone()
        ? own
        : new GroupCommunication(context).gatheredForParts(own, TensorCut.of(context, 1, sequence));
  }
}
