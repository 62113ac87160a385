/**
 * Shows plans and timelines: as text, SVG, a page for the browser and a trace for Perfetto. It
 * renders what others computed and computes no costs.
 *
 * <table>
 * <caption>Renderers</caption>
 * <tr><td>{@link dev.pipewright.app.report.TerminalReport}</td><td>the plan, why, and its rivals as tables of text</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.TimelineText}</td><td>the step as lines of Unicode characters</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.TimelineSvg}</td><td>the step and its memory as {@code timeline.svg}</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.HtmlReport}</td><td>all of it as {@code report.html}, to zoom into</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.PerfettoTrace}</td><td>the step as {@code trace.json} for ui.perfetto.dev</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.app.report;

import org.jspecify.annotations.NullMarked;
