package dev.pipewright.app.cli.train;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.schedule.catalog.ScheduleCatalog;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import dev.pipewright.schedule.catalog.UpdateSemantics;
import dev.pipewright.schedule.cyclic.Cyclic;
import java.util.Collections;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The asynchronous pipeline of {@code train} for a schedule of the catalogue.
 *
 * @param stages of the pipeline; of cyclic data parallelism also its workers
 * @param microBatches of a step, where the user says
 * @param replicas of each stage
 */
public record AsyncPipelineFlags(
    String name, int stages, @Nullable Integer microBatches, int replicas, boolean vertical) {
  /** None where the schedule flushes. */
  Optional<AsyncPipeline> asyncPipeline() {
    UpdateSemantics updates =
        ScheduleCatalog.find(name).map(ScheduleEntry::updates).orElse(UpdateSemantics.FLUSH);
    Optional<AsyncPipeline> found =
        switch (updates) {
          case STASHED -> Optional.of(pipeDream());
          case DOUBLE_BUFFERED -> Optional.of(twoBuffers());
          case CYCLIC -> cyclic();
          case FLUSH, PERIODIC -> Optional.empty();
        };
    if (vertical && updates != UpdateSemantics.STASHED) {
      throw new BadInputException(
          "--vertical-sync: only pipedream keeps versions for it; leave it out");
    }
    return found;
  }

  private AsyncPipeline pipeDream() {
    if (microBatches != null && microBatches != 1) {
      throw new BadInputException(
          "--micro-batches: pipedream updates after each micro-batch, which is a step of its own;"
              + " leave it out");
    }
    return new AsyncPipeline.PipeDream(Collections.nCopies(stages, replicas), vertical);
  }

  private AsyncPipeline twoBuffers() {
    int count = microBatches == null ? stages : microBatches;
    if (count < stages) {
      throw new BadInputException(
          ("--micro-batches: pipedream-2bw gets by with two versions from as many as stages on,"
                  + " and %d are fewer than %d; give %d or more")
              .formatted(count, stages, stages));
    }
    return new AsyncPipeline.DoubleBuffered(stages, count, replicas > 1);
  }

  private Optional<AsyncPipeline> cyclic() {
    for (Cyclic.Form form : Cyclic.Form.values()) {
      for (Cyclic.Rule rule : Cyclic.Rule.values()) {
        if (name.equals(form.label(rule))) {
          return Optional.of(cyclic(form, rule));
        }
      }
    }
    return Optional.empty();
  }

  private AsyncPipeline cyclic(Cyclic.Form form, Cyclic.Rule rule) {
    if (replicas > 1) {
      throw new BadInputException(
          "--replicas: %s has a worker for each of its %d micro-batches; leave it out"
              .formatted(name, stages));
    }
    if (microBatches != null && microBatches != stages) {
      throw new BadInputException(
          "--micro-batches: %s has as many as --stages, %d, not %d; leave it out"
              .formatted(name, stages, microBatches));
    }
    return new AsyncPipeline.CyclicDataParallel(new Cyclic(stages), form, rule);
  }
}
