/**
 * Plans: their stages, why they were chosen, their rivals and their memory. Each planner without
 * flushes has a text of its own.
 *
 * <table>
 * <caption>Renderers</caption>
 * <tr><td>{@link dev.pipewright.app.report.plan.TerminalReport}</td><td>the plan, why, and its rivals as tables of text</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.plan.HtmlReport}</td><td>the plan and its timeline as {@code report.html}, to zoom into</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.plan.MemoryText}</td><td>what each stage holds at its peak</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.app.report.plan;

import org.jspecify.annotations.NullMarked;
