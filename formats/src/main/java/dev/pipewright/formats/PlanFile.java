package dev.pipewright.formats;

import dev.pipewright.model.Training;
import dev.pipewright.plan.Plan;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * A plan and what it was made for, as far as the file says it.
 *
 * @param model a file or a name of the zoo
 * @param cluster a file or a name of the zoo
 * @param globalBatch samples per step
 * @param profileBatch samples that the model's times are for, where its file does not say
 * @param training how the model is trained
 * @param memory what the user says of every device's memory
 */
public record PlanFile(
    Plan plan,
    Optional<String> model,
    Optional<String> cluster,
    Optional<String> costModel,
    OptionalLong globalBatch,
    OptionalInt profileBatch,
    Optional<Training> training,
    GivenMemory memory)
    implements ReadPlan {
  /** A plan that does not say what it was made for. */
  public static PlanFile of(Plan plan) {
    return new PlanFile(
        plan,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        OptionalLong.empty(),
        OptionalInt.empty(),
        Optional.empty(),
        GivenMemory.NONE);
  }

  @Override
  public MadeFor madeFor() {
    return new MadeFor(model, cluster, globalBatch, profileBatch, training, memory);
  }
}
