package dev.pipewright.formats;

import dev.pipewright.planner.memory.HybridShape;
import java.util.OptionalDouble;

/**
 * A plan whose stages divide tensors, and what it was made for.
 *
 * @param figures that the file states
 * @param stepSeconds that its planner saw in the simulator
 */
public record HybridFile(
    HybridShape shape, MadeFor madeFor, PlanFigures figures, OptionalDouble stepSeconds)
    implements ReadPlan {}
