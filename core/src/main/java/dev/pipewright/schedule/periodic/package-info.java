/**
 * Periodic schedules of pipelines whose weights are updated while batches flow: a pattern repeated
 * for ever.
 *
 * <p>Paper: O. Beaumont, L. Eyraud-Dubois, A. Shilova, <i>Pipelined Model Parallelism: Complexity
 * Results and Memory Considerations</i>, Euro-Par 2021, hal-02968802.
 *
 * <table>
 * <caption>Patterns</caption>
 * <tr><td>{@link dev.pipewright.schedule.periodic.OneForwardOneBackwardStar}</td><td>least memory among all that repeat after one batch</td></tr>
 * <tr><td>{@link dev.pipewright.schedule.periodic.KPeriodic}</td><td>drops every so many-th batch: memory against throughput</td></tr>
 * <tr><td>{@link dev.pipewright.schedule.periodic.BestPattern}</td><td>the fastest of both that fits into memory</td></tr>
 * </table>
 *
 * <p>{@link dev.pipewright.schedule.periodic.PatternCheck} says whether a pattern can run; {@link
 * dev.pipewright.schedule.periodic.Unrolled} makes a finite schedule of one.
 */
@NullMarked
package dev.pipewright.schedule.periodic;

import org.jspecify.annotations.NullMarked;
