/**
 * Who does what in which order: integers only, no durations.
 *
 * <table>
 * <caption>Schedules</caption>
 * <tr><td>{@link dev.pipewright.schedule.GPipe}</td><td>all forwards, then all backwards</td></tr>
 * <tr><td>{@link dev.pipewright.schedule.OneForwardOneBackward}</td><td>early backward: DAPPLE policies A and B</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.schedule;

import org.jspecify.annotations.NullMarked;
