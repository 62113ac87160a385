/**
 * Studies of ParaDL's strategies: which to choose on how many devices, and why. {@link
 * dev.pipewright.app.report.study.Asked} says what a study is about.
 *
 * <table>
 * <caption>Renderers</caption>
 * <tr><td>{@link dev.pipewright.app.report.study.StudyText}</td><td>strategies and which to choose as tables of text</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.study.StudyTimeSvg}</td><td>their time by phase as {@code time.svg}</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.study.StudyMemorySvg}</td><td>their memory as {@code memory.svg}</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.study.StudyScalingSvg}</td><td>how they scale as {@code scaling.svg}</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.study.StudyParetoSvg}</td><td>time against memory as {@code pareto.svg}</td></tr>
 * <tr><td>{@link dev.pipewright.app.report.study.StudyHtml}</td><td>all of them as {@code report.html}</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.app.report.study;

import org.jspecify.annotations.NullMarked;
