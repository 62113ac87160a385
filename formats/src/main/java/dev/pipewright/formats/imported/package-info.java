/**
 * Plans that other programs' files hold, recognised by content.
 *
 * <table>
 * <caption>Formats</caption>
 * <tr><td>{@link dev.pipewright.formats.imported.MegatronPlan}</td><td>arguments of Megatron-LM</td></tr>
 * <tr><td>{@link dev.pipewright.formats.imported.TorchtitanPlan}</td><td>TOML of torchtitan up to 0.2.2</td></tr>
 * <tr><td>{@link dev.pipewright.formats.imported.GalvatronPlan}</td><td>JSON of Galvatron</td></tr>
 * <tr><td>{@link dev.pipewright.formats.imported.DeepSpeedPlan}</td><td>JSON of DeepSpeed</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.formats.imported;

import org.jspecify.annotations.NullMarked;
