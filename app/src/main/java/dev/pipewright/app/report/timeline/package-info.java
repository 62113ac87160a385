/**
 * Runs over time, simulated or measured, of plans and of schedules. {@link
 * dev.pipewright.app.report.timeline.Runs} is what every renderer takes.
 *
 * <table>
 * <caption>Renderers</caption>
 * <tr><td>{@link dev.pipewright.app.report.timeline.TimelineText}</td><td>runs as lines of text</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.timeline.TimelineSvg}</td><td>runs and their memory as {@code timeline.svg} or {@code schedule.svg}</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.timeline.PerfettoTrace}</td><td>a run as {@code trace.json} for ui.perfetto.dev</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.timeline.ScheduleText}</td><td>figures of schedules and their lines</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.timeline.ScheduleHtml}</td><td>schedules as {@code report.html}, to zoom into</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.app.report.timeline;

import org.jspecify.annotations.NullMarked;
