/**
 * Planners that use as little memory as they can and ask for speed second.
 *
 * <p>Sources: mCAP and CAPTURE, by H. Dreuning, K. Liokouras, X. Ouyang, H. E. Bal and R. V. van
 * Nieuwpoort. mCAP cuts a chain of layers into as many stages as there are devices so that the
 * fullest device holds as little as possible, by peaks that a few profiling runs measure. CAPTURE
 * also chooses for each stage how many devices share it and how: by samples, by tensors, or both.
 *
 * <table>
 * <caption>Parts</caption>
 * <tr><td>{@link dev.pipewright.planner.memory.ProfilingPartitions}</td><td>which partitions to run and measure</td></tr>
 * <tr><td>{@link dev.pipewright.planner.memory.ProfilingRun}</td><td>what one of them measured; the two metrics of each layer</td></tr>
 * <tr><td>{@link dev.pipewright.planner.memory.StagePeak}</td><td>a predictor: {@link dev.pipewright.planner.memory.LayerPeaks} from measurements, {@link dev.pipewright.planner.memory.ModelledPeaks} from shapes</td></tr>
 * <tr><td>{@link dev.pipewright.planner.memory.McapBruteForce}</td><td>mCAP-BF: tries every partition</td></tr>
 * <tr><td>{@link dev.pipewright.planner.memory.McapExact}</td><td>the same optimum by dynamic programming, for any predictor</td></tr>
 * <tr><td>{@link dev.pipewright.planner.memory.Capture}</td><td>hybrid plans: the least peak, the fastest within a peak, and what lies between</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.planner.memory;

import org.jspecify.annotations.NullMarked;
