/**
 * Comparisons: a run as measured, predicted and simulated, and the memory of workers in step
 * against that of cyclic ones.
 *
 * <table>
 * <caption>Renderers</caption>
 * <tr><td>{@link dev.pipewright.app.report.compare.ComparisonText}</td><td>predicted and simulated values with their errors</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.compare.ComparisonHtml}</td><td>measured, predicted and simulated runs as {@code report.html}</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.compare.CyclicMemorySvg}</td><td>memory of cyclic workers over a step</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.app.report.compare;

import org.jspecify.annotations.NullMarked;
