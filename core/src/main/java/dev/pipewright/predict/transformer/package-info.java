/**
 * An analytic oracle of one training step of a transformer under tensor, pipeline, data, context
 * and expert parallelism: seconds by phase, bytes by category, and an interval. Formulas count
 * arithmetic and bytes; machines come with data-sheet values and a set of calibrated constants.
 * Amounts are in SI units: seconds, bytes, FLOP/s.
 *
 * <table>
 * <caption>Concepts</caption>
 * <tr><td>{@link dev.pipewright.predict.transformer.TransformerRun}</td><td>what is trained, where and how</td></tr>
 * <tr><td>{@link dev.pipewright.predict.transformer.TrainingLayout}</td><td>degrees of parallelism and batches</td></tr>
 * <tr><td>{@link dev.pipewright.predict.transformer.StageSplit}</td><td>layers of each pipeline rank and chunk</td></tr>
 * <tr><td>{@link dev.pipewright.predict.transformer.NumberFormats}</td><td>precision of products, gradients and state</td></tr>
 * <tr><td>{@link dev.pipewright.predict.transformer.RecomputePolicy}</td><td>what the backward pass recomputes</td></tr>
 * <tr><td>{@link dev.pipewright.predict.transformer.Framework}</td><td>facts about training software</td></tr>
 * <tr><td>{@link dev.pipewright.predict.transformer.GpuMachine}</td><td>data-sheet values</td></tr>
 * <tr><td>{@link dev.pipewright.predict.transformer.CalibratedConstants}</td><td>constants by name</td></tr>
 * <tr><td>{@link dev.pipewright.predict.transformer.StackConstants}</td><td>those of one run</td></tr>
 * <tr><td>{@link dev.pipewright.predict.transformer.TransformerOracle}</td><td>the prediction</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.predict.transformer;

import org.jspecify.annotations.NullMarked;
