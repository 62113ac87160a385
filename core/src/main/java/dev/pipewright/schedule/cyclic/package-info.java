/**
 * Data parallelism with its steps' exchanges: workers in step, and workers one after the other.
 *
 * <table>
 * <caption>Schedules</caption>
 * <tr><td>{@link dev.pipewright.schedule.cyclic.Cyclic}</td><td>workers two slots apart: one device, a ring, a pyramid of devices, a pipeline, shared states</td></tr>
 * <tr><td>{@link dev.pipewright.schedule.cyclic.DataParallel}</td><td>all workers in step, also with shared states (ZeRO)</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.schedule.cyclic;

import org.jspecify.annotations.NullMarked;
