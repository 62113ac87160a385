/**
 * What a transformer is: its shape, from which parameters and arithmetic follow exactly, without
 * tensors, times or devices.
 *
 * <table>
 * <caption>Concepts</caption>
 * <tr><td>{@link dev.pipewright.model.transformer.TransformerShape}</td><td>the whole network, with its counts</td></tr>
 * <tr><td>{@link dev.pipewright.model.transformer.StackShape}</td><td>blocks in a row and their last normalisation</td></tr>
 * <tr><td>{@link dev.pipewright.model.transformer.LayerShape}</td><td>attention and feed-forward part of one layer</td></tr>
 * <tr><td>{@link dev.pipewright.model.transformer.AttentionShape}</td><td>grouped-query or multi-head latent attention</td></tr>
 * <tr><td>{@link dev.pipewright.model.transformer.AttentionSpan}</td><td>which keys a query reads</td></tr>
 * <tr><td>{@link dev.pipewright.model.transformer.FeedForwardShape}</td><td>one perceptron, or a mixture of experts</td></tr>
 * <tr><td>{@link dev.pipewright.model.transformer.InputShape}</td><td>embedding of words or of image patches</td></tr>
 * <tr><td>{@link dev.pipewright.model.transformer.HeadPart}</td><td>what the last states are turned into</td></tr>
 * <tr><td>{@link dev.pipewright.model.transformer.TokenPrediction}</td><td>DeepSeek's multi-token prediction</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.model.transformer;

import org.jspecify.annotations.NullMarked;
