/**
 * Plans as files of other frameworks and of launchers.
 *
 * <table>
 * <caption>Targets</caption>
 * <tr><td>{@link dev.pipewright.formats.export.MegatronExport}</td><td>arguments of Megatron-LM</td></tr>
 * <tr><td>{@link dev.pipewright.formats.export.BridgeExport}</td><td>a function for Megatron-Bridge's recipes</td></tr>
 * <tr><td>{@link dev.pipewright.formats.export.TorchtitanExport}</td><td>a recipe of torchtitan</td></tr>
 * <tr><td>{@link dev.pipewright.formats.export.TorchtitanTomlExport}</td><td>torchtitan's TOML up to 0.2.2</td></tr>
 * <tr><td>{@link dev.pipewright.formats.export.TorchExport}</td><td>a script of {@code torch.distributed.pipelining}</td></tr>
 * <tr><td>{@link dev.pipewright.formats.export.DeepSpeedExport}</td><td>DeepSpeed's configuration and stages</td></tr>
 * <tr><td>{@link dev.pipewright.formats.export.GalvatronExport}</td><td>Galvatron's JSON</td></tr>
 * <tr><td>{@link dev.pipewright.formats.export.LaunchExport}</td><td>jobs of Slurm and Kubernetes around one of these</td></tr>
 * </table>
 *
 * <p>A target is a {@link dev.pipewright.formats.export.PlanExport} with the limits of what it can
 * say, and a line of {@link dev.pipewright.formats.export.ExportCatalog}.
 */
@NullMarked
package dev.pipewright.formats.export;

import org.jspecify.annotations.NullMarked;
