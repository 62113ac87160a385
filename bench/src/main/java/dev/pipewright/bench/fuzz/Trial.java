package dev.pipewright.bench.fuzz;

import java.util.Optional;

/** Input of one kind, damaged in as many ways as there are numbers. */
interface Trial {
  /** What is damaged. */
  String name();

  /**
   * Answers a case and says what is wrong with the answer.
   *
   * @param seed from which alone the case is made
   */
  Optional<Campaign.Finding> one(Runner runner, int number, long seed);
}
