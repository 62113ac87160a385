package dev.pipewright.formats.imported;

import dev.pipewright.formats.PlanFile;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.plan.PipelinePlan;
import java.nio.file.Path;
import java.util.OptionalInt;

/** A format of another program that holds a plan of synchronous training. */
interface PlanImport {
  /** The format's name in sentences. */
  String words();

  /** Whether a file that starts so is of the format. */
  boolean begins(String start);

  /**
   * Reads the plan; throws {@link BadInputException} where the file says something that plans do
   * not have, or too little.
   *
   * @param devices of the run, where they are known: data parallelism follows from them
   */
  PlanFile<PipelinePlan> read(Path file, OptionalInt devices);
}
