/**
 * Optimal schedules and patterns of small pipelines, each with a proof that nothing is better: the
 * referees of what {@code schedule} builds by rule and by heuristic.
 *
 * <table>
 * <caption>Searches</caption>
 * <tr><td>{@link dev.pipewright.solver.OptimalSchedule}</td><td>the order of a training step's passes</td></tr>
 * <tr><td>{@link dev.pipewright.solver.OptimalPattern}</td><td>the pattern that repeats for ever, stages placed anyhow</td></tr>
 * <tr><td>{@link dev.pipewright.solver.OptimalAllocation}</td><td>the same, with the ranks of the stages chosen</td></tr>
 * </table>
 *
 * <p>Every search is CP-SAT's, the constraint solver of Google OR-Tools, run so that the same
 * question has the same {@link dev.pipewright.solver.Answer} every time.
 */
@NullMarked
package dev.pipewright.solver;

import org.jspecify.annotations.NullMarked;
