package dev.pipewright.cluster;

/**
 * The algorithm of a collective library's all-reduce. Its all-gather and reduce-scatter are the
 * halves of it; a tree has none, so that there the ring's are taken.
 */
public enum AllReduceAlgorithm {
  /** The fastest of the others, message by message. */
  CHEAPEST,
  RING,
  TREE,
  /** Inside nodes, across them, and inside again. */
  HIERARCHICAL
}
