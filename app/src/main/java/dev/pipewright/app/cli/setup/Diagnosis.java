package dev.pipewright.app.cli.setup;

/**
 * One thing that Pipewright can use.
 *
 * @param what it is and where, or what is missing without it and how to get it
 */
record Diagnosis(String name, boolean found, String what) {
  static Diagnosis found(String name, String what) {
    return new Diagnosis(name, true, what);
  }

  static Diagnosis missing(String name, String cost) {
    return new Diagnosis(name, false, cost);
  }
}
