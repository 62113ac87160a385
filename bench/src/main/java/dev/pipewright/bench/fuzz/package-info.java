/**
 * Damages files and command lines on purpose and judges the answers.
 *
 * <table>
 * <caption>Parts</caption>
 * <tr><td>{@link dev.pipewright.bench.fuzz.Campaign}</td><td>all cases of a target, by number</td></tr>
 * <tr><td>{@code Seeds}</td><td>files that are right, and what is asked about them</td></tr>
 * <tr><td>{@code Mutation}</td><td>damages a file</td></tr>
 * <tr><td>{@code CommandLines}</td><td>each command with flags that make sense or do not</td></tr>
 * <tr><td>{@code Runner}</td><td>answers in this process and judges the answer</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.bench.fuzz;

import org.jspecify.annotations.NullMarked;
