/**
 * Schedules of ops by rank, as PyTorch writes them and as Pipewright ran them.
 *
 * <table>
 * <caption>Formats</caption>
 * <tr><td>{@link dev.pipewright.formats.schedule.ScheduleCsv}</td><td>PyTorch's compute and send/receive actions; read, write</td></tr>
 * <tr><td>{@link dev.pipewright.formats.schedule.ScheduleJson}</td><td>a schedule that ran; write</td></tr>
 * <tr><td>{@link dev.pipewright.formats.schedule.ScheduleJsonReader}</td><td>the same; read</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.formats.schedule;

import org.jspecify.annotations.NullMarked;
