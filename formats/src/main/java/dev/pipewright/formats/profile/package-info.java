/**
 * Profiles: times and sizes of layers, and what a measurement says in addition to them.
 *
 * <table>
 * <caption>Formats</caption>
 * <tr><td>{@link dev.pipewright.formats.profile.ProfileJson}</td><td>profiles; read, write</td></tr>
 * <tr><td>{@link dev.pipewright.formats.profile.ProfilingJson}</td><td>a measurement with its spread; write</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.formats.profile;

import org.jspecify.annotations.NullMarked;
