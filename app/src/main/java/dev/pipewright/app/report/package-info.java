/**
 * Shows plans, timelines and studies of strategies: as text, SVG, a page for the browser and a
 * trace for Perfetto. It renders what others computed and computes no costs.
 *
 * <table>
 * <caption>Renderers</caption>
 * <tr><td>{@link dev.pipewright.app.report.TerminalReport}</td><td>the plan, why, and its rivals as tables of text</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.TimelineText}</td><td>the step as lines of Unicode characters</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.TimelineSvg}</td><td>the step and its memory as {@code timeline.svg}</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.HtmlReport}</td><td>all of it as {@code report.html}, to zoom into</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.PerfettoTrace}</td><td>the step as {@code trace.json} for ui.perfetto.dev</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.ScheduleText}</td><td>a schedule as a grid of text</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.ScheduleSvg}</td><td>a schedule as the grid that everyone knows</td></tr>
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
