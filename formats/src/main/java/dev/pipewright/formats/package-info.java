/**
 * Plans and the answers of planners as JSON.
 *
 * <table>
 * <caption>Formats</caption>
 * <tr><td>{@link dev.pipewright.formats.PlanJson}</td><td>plans; read, write</td></tr>
 * <tr><td>{@link dev.pipewright.formats.AnswerJson}</td><td>a planner's answer; write</td></tr>
 * </table>
 *
 * <p>Each other kind of file has a package below this one, and each format a class there. {@code
 * docs/formats.md} describes them for users.
 */
@NullMarked
package dev.pipewright.formats;

import org.jspecify.annotations.NullMarked;
