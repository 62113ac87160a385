package dev.pipewright.bench;

/** A published table or figure, computed again. */
interface Reproduction {
  /** The word on the command line and the name of its files. */
  String name();

  /** Whether it can do nothing without reference files. */
  default boolean needsReference() {
    return false;
  }

  Report run(Reference reference);
}
