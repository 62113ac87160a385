/**
 * Networks as other programs and people write them.
 *
 * <table>
 * <caption>Formats</caption>
 * <tr><td>{@link dev.pipewright.formats.model.GraphText}</td><td>PipeDream's and DAPPLE's graphs and profiles; read</td></tr>
 * <tr><td>{@link dev.pipewright.formats.model.LayerTable}</td><td>layers as comma-separated values; read</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.formats.model;

import org.jspecify.annotations.NullMarked;
