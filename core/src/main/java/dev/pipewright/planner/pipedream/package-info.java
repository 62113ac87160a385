/**
 * The planners of PipeDream and PipeDream-2BW: pipelines that never flush.
 *
 * <table>
 * <caption>Planners</caption>
 * <tr><td>{@link dev.pipewright.planner.pipedream.PipeDreamOptimizer}</td><td>stages and replicas over a hierarchy of links, SOSP 2019</td></tr>
 * <tr><td>{@link dev.pipewright.planner.pipedream.PipeDream2bwPlanner}</td><td>width, depth, micro-batch and recomputation of PipeDream-2BW, ICML 2021</td></tr>
 * <tr><td>{@link dev.pipewright.planner.pipedream.PipeDream2bwRepoPlanner}</td><td>the same for equal blocks, as its authors programmed it</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.planner.pipedream;

import org.jspecify.annotations.NullMarked;
