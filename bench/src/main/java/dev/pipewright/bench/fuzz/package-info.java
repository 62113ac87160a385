/**
 * Damages files, command lines and messages on purpose and judges the answers.
 *
 * <table>
 * <caption>Parts</caption>
 * <tr><td>{@link dev.pipewright.bench.fuzz.Campaign}</td><td>all cases of a target, by number</td></tr>
 * <tr><td>{@code Trial}</td><td>input of one kind, of which a seed makes a case</td></tr>
 * <tr><td>{@code FileTrial}</td><td>files that commands read; {@code Seeds} has those that are right</td></tr>
 * <tr><td>{@code FlagTrial}</td><td>{@code CommandLines} with flags that make sense or do not</td></tr>
 * <tr><td>{@code DataTrial}</td><td>data sets for training</td></tr>
 * <tr><td>{@code FrameTrial}</td><td>connections that are changed on their way</td></tr>
 * <tr><td>{@code ControlTrial}</td><td>messages of a coordinator</td></tr>
 * <tr><td>{@code TensorTrial}</td><td>messages of another worker</td></tr>
 * <tr><td>{@code Mutation}</td><td>damages bytes</td></tr>
 * <tr><td>{@code Runner}</td><td>answers in this process and judges the answer</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.bench.fuzz;

import org.jspecify.annotations.NullMarked;
