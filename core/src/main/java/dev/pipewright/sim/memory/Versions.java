package dev.pipewright.sim.memory;

/** The versions of one stage's parameters on a rank. */
interface Versions {
  /** A forward pass starts; returns the version that it takes. */
  int take(int microBatch);

  /** An update starts; returns how many more versions are stashed. */
  int update();

  /** The last pass that needs a version for its micro-batch ends; returns how many are dropped. */
  int leave(int version);
}
