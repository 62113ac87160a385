/**
 * The files of ParaDL's published program: networks, platforms, and which layers a strategy may
 * split.
 *
 * <table>
 * <caption>Formats</caption>
 * <tr><td>{@link dev.pipewright.formats.paradl.ParadlNet}</td><td>networks; read</td></tr>
 * <tr><td>{@link dev.pipewright.formats.paradl.ParadlPlatform}</td><td>clusters; read</td></tr>
 * <tr><td>{@link dev.pipewright.formats.paradl.ParadlSwitches}</td><td>lists of layers; read</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.formats.paradl;

import org.jspecify.annotations.NullMarked;
