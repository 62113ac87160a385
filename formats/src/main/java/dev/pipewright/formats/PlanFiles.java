package dev.pipewright.formats;

import dev.pipewright.formats.file.BadInputException;
import java.nio.file.Path;

/** Reads plans of all kinds. */
public final class PlanFiles {
  private PlanFiles() {}

  /**
   * Reads a plan of any kind, recognised by its content. Throws {@link BadInputException} where it
   * is none.
   */
  public static PlanFile<?> read(Path file) {
    PlanTree tree = PlanTree.read(file);
    return switch (tree.kind()) {
      case SYNCHRONOUS -> PlanJson.read(tree);
      case ASYNCHRONOUS -> AsynchronousJson.read(tree);
      case PERIODIC -> PeriodicReader.read(tree);
      case PLACEMENT -> PlacementReader.read(tree);
    };
  }
}
