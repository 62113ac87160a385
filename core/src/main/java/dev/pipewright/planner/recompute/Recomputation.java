package dev.pipewright.planner.recompute;

/** Which layers of a stage run again before their backward passes. */
public enum Recomputation {
  NEVER,
  /** All of every stage, which holds its input alone. */
  ALWAYS,
  /** Any, no more than memory demands. */
  SELECTIVE
}
