package dev.pipewright.formats;

import dev.pipewright.planner.madpipe.PeriodicShape;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * A periodic plan, of which a device may have several stages, and what it was made for.
 *
 * @param samples of a mini-batch
 * @param contiguous whether the file says that every device has one stage
 * @param figures that the file states
 * @param objective seconds of a mini-batch that its planner expects
 */
public record PeriodicFile(
    PeriodicShape shape,
    int samples,
    Optional<Boolean> contiguous,
    MadeFor madeFor,
    PlanFigures figures,
    OptionalDouble objective)
    implements ReadPlan {}
