package dev.pipewright.app.cli.given;

import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.formats.file.OutputFolder;
import java.util.Optional;

/** What a simulation of a plan found, in the forms that {@code simulate} offers. */
public interface SimulationResult {
  /** The report for a terminal. */
  String text();

  /** One object. */
  String json();

  /** What is trained, and how fast, where {@link #json} and {@link #text} do not say it. */
  default Optional<TrainingFigures> figures() {
    return Optional.empty();
  }

  /** The first part of the plan that does not fit, worded; empty when all do. */
  Optional<String> doesNotFit();

  /** Writes {@link GivenFile#files}. */
  default void write(OutputFolder folder) {}
}
