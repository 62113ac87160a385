/**
 * Transformers as other programs describe them, by kind and sizes.
 *
 * <table>
 * <caption>Formats</caption>
 * <tr><td>{@link dev.pipewright.formats.transformer.CalculonModel}</td><td>models of Calculon; read</td></tr>
 * <tr><td>{@link dev.pipewright.formats.transformer.HuggingFaceConfig}</td><td>{@code config.json} of Hugging Face's transformers; read</td></tr>
 * <tr><td>{@link dev.pipewright.formats.transformer.MegatronFile}</td><td>arguments of Megatron-LM in YAML, scripts and logs; read</td></tr>
 * <tr><td>{@link dev.pipewright.formats.transformer.MegatronLayout}</td><td>Megatron's layout of pipeline stages; read</td></tr>
 * <tr><td>{@link dev.pipewright.formats.transformer.TorchtitanToml}</td><td>torchtitan's TOML up to 0.2.2; read</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.formats.transformer;

import org.jspecify.annotations.NullMarked;
