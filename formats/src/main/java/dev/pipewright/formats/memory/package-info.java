/**
 * Memory: curves over time and measured peaks of layers.
 *
 * <table>
 * <caption>Formats</caption>
 * <tr><td>{@link dev.pipewright.formats.memory.MemoryCurveCsv}</td><td>memory over time; read, write</td></tr>
 * <tr><td>{@link dev.pipewright.formats.memory.MemoryCurveJson}</td><td>the same in an answer; write</td></tr>
 * <tr><td>{@link dev.pipewright.formats.memory.McapTable}</td><td>peaks of layers, as mCAP writes them; read</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.formats.memory;

import org.jspecify.annotations.NullMarked;
