/**
 * Plans as files of other frameworks and of launchers.
 *
 * <table>
 * <caption>Targets</caption>
 * <tr><td>{@link dev.pipewright.formats.export.MegatronExport}</td><td>arguments of Megatron-LM</td></tr>
 * <tr><td>{@link dev.pipewright.formats.export.BridgeExport}</td><td>a function for Megatron-Bridge's recipes</td></tr>
 * </table>
 *
 * <p>A target is a {@link dev.pipewright.formats.export.PlanExport} with the limits of what it can
 * say, and a line of {@link dev.pipewright.formats.export.ExportCatalog}.
 */
@NullMarked
package dev.pipewright.formats.export;

import org.jspecify.annotations.NullMarked;
