/**
 * Clusters, and the timings of collectives that their links are fitted to.
 *
 * <table>
 * <caption>Formats</caption>
 * <tr><td>{@link dev.pipewright.formats.cluster.ClusterYaml}</td><td>clusters; read, write</td></tr>
 * <tr><td>{@link dev.pipewright.formats.cluster.CollectiveTimings}</td><td>logs of nccl-tests and OSU benchmarks, CSV; read</td></tr>
 * <tr><td>{@link dev.pipewright.formats.cluster.LinkFitJson}</td><td>fitted links; write</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.formats.cluster;

import org.jspecify.annotations.NullMarked;
