package dev.pipewright.formats;

import dev.pipewright.formats.file.BadInputException;
import java.nio.file.Path;

/** What a plan file holds: one of the kinds of plan, and what it was made for. */
public sealed interface ReadPlan permits PlanFile, AsynchronousFile, PeriodicFile, PlacementFile {
  /** What it was made for, as far as the file says it. */
  MadeFor madeFor();

  /**
   * Reads a plan of any kind, recognised by its content. Throws {@link BadInputException} where it
   * is none.
   */
  static ReadPlan of(Path file) {
    PlanTree tree = PlanTree.read(file);
    return switch (tree.kind()) {
      case SYNCHRONOUS -> PlanJson.read(tree);
      case ASYNCHRONOUS -> AsynchronousJson.read(tree);
      case PERIODIC -> PeriodicReader.read(tree);
      case PLACEMENT -> PlacementReader.read(tree);
    };
  }
}
