/**
 * Plans that other programs' files hold, recognised by content.
 *
 * <table>
 * <caption>Formats</caption>
 * <tr><td>{@link dev.pipewright.formats.imported.MegatronImport}</td><td>arguments of Megatron-LM</td></tr>
 * <tr><td>{@link dev.pipewright.formats.imported.TorchtitanImport}</td><td>TOML of torchtitan up to 0.2.2</td></tr>
 * <tr><td>{@link dev.pipewright.formats.imported.GalvatronImport}</td><td>JSON of Galvatron</td></tr>
 * <tr><td>{@link dev.pipewright.formats.imported.DeepSpeedImport}</td><td>JSON of DeepSpeed</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.formats.imported;

import org.jspecify.annotations.NullMarked;
