package dev.pipewright.schedule.catalog;

/** Which version of the parameters the passes of a micro-batch use. */
public enum UpdateSemantics {
  /** All micro-batches of a step use the same version: synchronous training. */
  FLUSH,
  /** Both passes of a micro-batch use one version of each stage (weight stashing, PipeDream). */
  STASHED,
  /** Two versions, updated once for many micro-batches (PipeDream-2BW). */
  DOUBLE_BUFFERED,
  /** A period of a pattern is a step, with versions in between (1F1B*, MadPipe). */
  PERIODIC,
  /** Rules v1 and v2 of cyclic data parallelism (arXiv:2403.08837, §3). */
  CYCLIC
}
