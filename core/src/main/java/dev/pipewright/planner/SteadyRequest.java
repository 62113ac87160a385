package dev.pipewright.planner;

import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.profile.Profile;
import dev.pipewright.units.Check;
import java.util.OptionalInt;

/**
 * What a planner of pipelines without flushes is asked for.
 *
 * @param batch samples of a mini-batch, or of an update; those of the profile where not given
 * @param stages of the pipeline, exactly so many; any number otherwise
 * @param recomputation how layers may be recomputed, by planners that know of it
 * @param flags that the planner declares for itself
 */
public record SteadyRequest(
    OptionalInt batch, OptionalInt stages, Recomputation recomputation, FlagValues flags) {
  public SteadyRequest {
    batch.ifPresent(
        samples -> Check.that(samples >= 1, "a mini-batch has samples: batch=%d", samples));
    stages.ifPresent(
        count -> Check.that(count >= 1, "a pipeline has at least one stage: stages=%d", count));
  }

  /** Samples of a mini-batch of a profile. */
  public int samples(Profile profile) {
    return batch.orElseGet(() -> profile.samples().get(0));
  }

  /** Mini-batches of so many samples; everything else open. */
  public static SteadyRequest of(int batch) {
    return new SteadyRequest(
        OptionalInt.of(batch), OptionalInt.empty(), Recomputation.SELECTIVE, FlagValues.NONE);
  }
}
