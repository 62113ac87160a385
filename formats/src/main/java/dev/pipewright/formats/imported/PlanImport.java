package dev.pipewright.formats.imported;

import dev.pipewright.formats.GivenMemory;
import dev.pipewright.formats.MadeFor;
import dev.pipewright.formats.PlanFile;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.model.Training;
import dev.pipewright.plan.PipelinePlan;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

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

  /**
   * A plan whose file also says for what it was made.
   *
   * @param network the file that states it, where one does
   * @param training how it is trained, where that is said
   */
  static PlanFile<PipelinePlan> file(
      PipelinePlan plan, Optional<Path> network, Optional<Training> training) {
    MadeFor madeFor =
        new MadeFor(
            network.map(Path::toString),
            Optional.empty(),
            OptionalLong.of(plan.globalBatch()),
            OptionalInt.empty(),
            OptionalInt.empty(),
            training,
            GivenMemory.NONE);
    return new PlanFile<>(plan, madeFor, Optional.empty());
  }
}
