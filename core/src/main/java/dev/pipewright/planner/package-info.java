/**
 * Searches for plans.
 *
 * <table>
 * <caption>Planners</caption>
 * <tr><td>{@link dev.pipewright.planner.DapplePlanner}</td><td>hybrid of data and pipeline parallelism, synchronous</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.planner;

import org.jspecify.annotations.NullMarked;
