/**
 * Optimal schedules of small pipelines, each with a proof that nothing is better ({@link
 * dev.pipewright.solver.OptimalSchedule}): {@code schedule optimal}. The tests of this module hold
 * exact solvers of patterns, allocations and placements, the referees of core's planners.
 *
 * <p>Every search is CP-SAT's, the constraint solver of Google OR-Tools, run so that the same
 * question has the same {@link dev.pipewright.solver.SolverAnswer} every time.
 */
@NullMarked
package dev.pipewright.solver;

import org.jspecify.annotations.NullMarked;
