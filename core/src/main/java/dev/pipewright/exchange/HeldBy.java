package dev.pipewright.exchange;

/**
 * Which workers of a stage have the same of its states: they sum its gradients, and may shard it.
 */
public enum HeldBy {
  /** Those with the same part of layers, but for experts. */
  SAME_PART,
  /** Those with the same experts. */
  SAME_EXPERTS,
  /** All, also of other parts. */
  STAGE
}
