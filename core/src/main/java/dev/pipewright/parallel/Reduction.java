package dev.pipewright.parallel;

/**
 * How gradients are summed that both the parts of a split stage and its replicas add to (ParaDL
 * §3.5: data and spatial).
 */
public enum Reduction {
  /** By all workers at once. */
  FLAT("flat"),
  /** Each sums its share of them with its team, then with the replicas, and all hand it on. */
  HIERARCHICAL("hierarchical"),
  /** The first of each team sums them, then with the first of the others, and hands them on. */
  LEADERS("leaders");

  private final String word;

  Reduction(String word) {
    this.word = word;
  }

  /** The word used in flags. */
  public String word() {
    return word;
  }
}
