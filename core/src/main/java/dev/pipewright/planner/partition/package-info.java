/**
 * Plain ways to cut a chain of layers into stages, which other planners are compared with.
 *
 * <table>
 * <caption>Partitions</caption>
 * <tr><td>{@link dev.pipewright.planner.partition.UniformLayers}</td><td>as many layers for each stage</td></tr>
 * <tr><td>{@link dev.pipewright.planner.partition.UniformWeights}</td><td>the largest stage as small as possible, by parameters or seconds</td></tr>
 * <tr><td>{@link dev.pipewright.planner.partition.BlockPartition}</td><td>no two stages further apart than the largest layer</td></tr>
 * </table>
 *
 * <p>All of them return the first item of each stage; a network with branches is cut along {@link
 * dev.pipewright.planner.partition.OnePath}. {@link dev.pipewright.planner.partition.CoarseCuts}
 * leaves searches fewer cuts to choose from.
 */
@NullMarked
package dev.pipewright.planner.partition;

import org.jspecify.annotations.NullMarked;
