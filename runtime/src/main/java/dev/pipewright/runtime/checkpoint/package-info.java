/**
 * What training has learnt so far, in files: tensors by their names, so that any other plan can go
 * on with them.
 *
 * <table>
 * <caption>Members</caption>
 * <tr><td>{@link dev.pipewright.runtime.checkpoint.Checkpoints}</td><td>a folder of checkpoints:
 * begins, finishes and forgets them</td></tr>
 * <tr><td>{@link dev.pipewright.runtime.checkpoint.Checkpoint}</td><td>reads one</td></tr>
 * <tr><td>{@link dev.pipewright.runtime.checkpoint.Manifest}</td><td>what one says of itself
 * </td></tr>
 * <tr><td>{@link dev.pipewright.runtime.checkpoint.Shards}</td><td>writes the file of one worker
 * </td></tr>
 * <tr><td>{@link dev.pipewright.runtime.checkpoint.TensorFile}</td><td>reads a file of safetensors,
 * of any program</td></tr>
 * <tr><td>{@link dev.pipewright.runtime.checkpoint.MergedFile}</td><td>writes one for other programs
 * </td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.runtime.checkpoint;

import org.jspecify.annotations.NullMarked;
