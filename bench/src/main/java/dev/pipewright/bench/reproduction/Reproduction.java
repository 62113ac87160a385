package dev.pipewright.bench.reproduction;

/** A published table or figure, computed again. */
public interface Reproduction {
  /** The word on the command line and the name of its files. */
  String name();

  /** Whether it can do nothing without reference files. */
  default boolean needsReference() {
    return false;
  }

  Report run(Reference reference);
}
