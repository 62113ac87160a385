/**
 * Shows plans, timelines and studies of strategies: as text, SVG, a page for the browser and a
 * trace for Perfetto. It renders what others computed and computes no costs.
 *
 * <table>
 * <caption>Renderers</caption>
 * <tr><td>{@link dev.pipewright.app.report.TimelineText}</td><td>runs of plans and schedules as lines of text</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.TimelineSvg}</td><td>runs and their memory as {@code timeline.svg} or {@code schedule.svg}</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.PerfettoTrace}</td><td>a run as {@code trace.json} for ui.perfetto.dev</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.TerminalReport}</td><td>the plan, why, and its rivals as tables of text</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.HtmlReport}</td><td>the plan and its timeline as {@code report.html}, to zoom into</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.ScheduleText}</td><td>figures of schedules and their lines</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.ScheduleHtml}</td><td>schedules as {@code report.html}, to zoom into</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.ComparisonHtml}</td><td>measured, predicted and simulated runs as {@code report.html}</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.StudyText}</td><td>strategies and which to choose as tables of text</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.StudyTimeSvg}</td><td>their time by phase as {@code time.svg}</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.StudyMemorySvg}</td><td>their memory as {@code memory.svg}</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.StudyScalingSvg}</td><td>how they scale as {@code scaling.svg}</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.StudyParetoSvg}</td><td>time against memory as {@code pareto.svg}</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.StudyHtml}</td><td>all of them as {@code report.html}</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.app.report;

import org.jspecify.annotations.NullMarked;
