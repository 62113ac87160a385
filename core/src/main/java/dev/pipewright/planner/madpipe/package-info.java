/**
 * Plans for training whose weights are updated while batches flow: which device computes which
 * layers, next to each other or not, and the pattern that repeats for ever, within memory.
 *
 * <p>Papers: O. Beaumont, L. Eyraud-Dubois, A. Shilova, <i>Pipelined Model Parallelism: Complexity
 * Results and Memory Considerations</i>, Euro-Par 2021, hal-02968802, and, for the idea of one
 * device that takes several stages, <i>MadPipe: Memory Aware Dynamic Programming Algorithm for
 * Pipelined Model Parallelism</i>, hal-03025305.
 *
 * <table>
 * <caption>Searches</caption>
 * <tr><td>{@link dev.pipewright.planner.madpipe.ContiguousPlanner}</td><td>one stage per device, exact for a discipline</td></tr>
 * <tr><td>{@link dev.pipewright.planner.madpipe.MadPipe}</td><td>devices with several stages, each plan with its pattern</td></tr>
 * <tr><td>{@link dev.pipewright.planner.madpipe.PeriodicPlanner}</td><td>the best of all, with bounds and the runner-up</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.planner.madpipe;

import org.jspecify.annotations.NullMarked;
