package dev.pipewright.app.cli.plan;

import dev.pipewright.cost.TrainingFigures;
import dev.pipewright.formats.file.OutputFolder;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;

/** What a planner found, in the forms that {@code plan} offers. */
public interface PlannerAnswer {
  /** One object. */
  String json();

  /** The report for a terminal. */
  void print(PrintWriter out);

  /** What is trained, and how fast, where {@link #json} and {@link #print} do not say it. */
  default Optional<TrainingFigures> figures() {
    return Optional.empty();
  }

  /** Why there is no plan, and what would help. */
  default Optional<String> nothing() {
    return Optional.empty();
  }

  /**
   * What to say in addition to the answer: that a search was ended early, that a plan does not fit.
   */
  default List<String> remarks() {
    return List.of();
  }

  /** Whether the plan can be used; {@code plan} ends with status 1 where it cannot. */
  default boolean fits() {
    return nothing().isEmpty();
  }

  /** The files that {@link #write} makes. */
  default List<String> files() {
    return List.of("plan.json");
  }

  /** What exports the plan; empty where it is none of synchronous training with times. */
  default Optional<PlanExporter> exporter() {
    return Optional.empty();
  }

  /** The plan of a step with its figures; empty where it is none of synchronous training. */
  default Optional<Answer> planned() {
    return Optional.empty();
  }

  /** Writes all files into a folder. */
  default void write(OutputFolder out) {
    out.write("plan.json", json());
  }
}
