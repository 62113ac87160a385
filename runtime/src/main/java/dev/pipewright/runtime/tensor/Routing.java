package dev.pipewright.runtime.tensor;

import org.bytedeco.pytorch.T_TensorTensor_T;

/**
 * Which experts the tokens of a mixture are sent to: for each token those of the highest scores,
 * weighted by the softmax of these (A. Jiang et al., <i>Mixtral of experts</i>, arXiv:2401.04088,
 * §2.1). No token is dropped.
 *
 * <p>A token has a row for each of its experts; rows lie in the order of the experts, those of an
 * expert in the order of the tokens.
 */
public final class Routing {
  private final int chosen;
  private final Tensor weights;
  private final long[] counts;
  private final Tensor tokens; // of each row
  private final Tensor rows; // of each token's experts

  /**
   * Belongs to the scope that is open.
   *
   * @param scores tokens × experts
   * @param chosen experts of a token
   */
  public Routing(Tensor scores, int chosen) {
    this.chosen = chosen;
    T_TensorTensor_T best = scores.handle().topk(chosen, 1, true, true);
    this.weights = Functions.softmax(Tensor.shared(best.get0()), 1);
    long[] experts = Tensor.shared(best.get1()).toWhole();
    this.counts = new long[(int) scores.extent(1)];
    for (long expert : experts) {
      counts[(int) expert]++;
    }
    long[] next = new long[counts.length];
    for (int expert = 1; expert < next.length; expert++) {
      next[expert] = next[expert - 1] + counts[expert - 1];
    }
    long[] token = new long[experts.length];
    long[] row = new long[experts.length];
    for (int i = 0; i < experts.length; i++) {
      int expert = (int) experts[i];
      row[i] = next[expert];
      token[(int) next[expert]] = i / chosen;
      next[expert]++;
    }
    this.tokens = Tensor.ofWhole(token, token.length);
    this.rows = Tensor.ofWhole(row, row.length);
  }

  /** Of each token's experts: tokens × chosen. */
  public Tensor weights() {
    return weights;
  }

  /** Rows of each expert. */
  public long[] counts() {
    return counts.clone();
  }

  /**
   * The rows of all experts.
   *
   * @param states tokens × features
   */
  public Tensor sent(Tensor states) {
    return states.rows(tokens);
  }

  /**
   * For each token the weighted sum of what its experts made.
   *
   * @param made the rows of all experts
   * @param weighted {@link #weights}, or what follows from them
   */
  public Tensor combined(Tensor made, Tensor weighted) {
    long features = made.extent(1);
    long own = weighted.extent(0);
    Tensor ofTokens = made.rows(rows).reshaped(own, chosen, features);
    return ofTokens.times(weighted.reshaped(own, chosen, 1)).sums(1);
  }
}
