/**
 * Searches for plans.
 *
 * <table>
 * <caption>Planners</caption>
 * <tr><td>{@link dev.pipewright.planner.AutoPlanner}</td><td>hybrids, and equal pipelines with any schedule and divided layers</td></tr>
 * <tr><td>{@link dev.pipewright.planner.ScheduledPlanner}</td><td>equal pipelines with a given schedule</td></tr>
 * <tr><td>{@link dev.pipewright.planner.DapplePlanner}</td><td>hybrid of data and pipeline parallelism, synchronous</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.planner;

import org.jspecify.annotations.NullMarked;
