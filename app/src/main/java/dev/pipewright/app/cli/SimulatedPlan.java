package dev.pipewright.app.cli;

import dev.pipewright.formats.OutputFolder;
import java.util.Optional;

/** What a simulation of a plan found, in the forms that {@code simulate} offers. */
interface SimulatedPlan {
  /** The report for a terminal. */
  String text();

  /** One object. */
  String json();

  /** The first part of the plan that does not fit, worded; empty when all do. */
  Optional<String> doesNotFit();

  /** Writes {@link GivenPlan#files}. */
  default void write(OutputFolder folder) {}
}
