/**
 * Places the operators of a network on accelerators and processors so that the busiest device is as
 * little busy as possible: what a pipeline's rate hangs on.
 *
 * <table>
 * <caption>Members</caption>
 * <tr><td>{@link dev.pipewright.planner.placement.OperatorGraph}</td><td>what is placed, and on what</td></tr>
 * <tr><td>{@link dev.pipewright.planner.placement.PlacementPlanner}</td><td>contiguous optimum over ideals; improvement without contiguity</td></tr>
 * <tr><td>{@link dev.pipewright.planner.placement.OperatorPlacement}</td><td>a placement with its loads</td></tr>
 * <tr><td>{@link dev.pipewright.planner.placement.TrainingGraph}</td><td>the operator graph of a network of layers</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.planner.placement;

import org.jspecify.annotations.NullMarked;
