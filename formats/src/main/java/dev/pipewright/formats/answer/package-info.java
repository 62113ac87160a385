/**
 * What {@code predict}, {@code train} and {@code compare} print with {@code --json}.
 *
 * <table>
 * <caption>Formats</caption>
 * <tr><td>{@link dev.pipewright.formats.answer.StudyJson}</td><td>the oracle's answer; write</td></tr>
 * <tr><td>{@link dev.pipewright.formats.answer.TrainingJson}</td><td>a run; write</td></tr>
 * <tr><td>{@link dev.pipewright.formats.answer.ComparisonJson}</td><td>predicted, simulated and measured figures; write</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.formats.answer;

import org.jspecify.annotations.NullMarked;
