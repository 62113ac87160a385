/**
 * Searches all layouts of a transformer's training over given devices: the fastest that fit, those
 * that no other excels in time and memory, and the fastest for each pair of tensor and pipeline
 * parallelism.
 *
 * <table>
 * <caption>Concepts</caption>
 * <tr><td>{@link dev.pipewright.predict.transformer.search.SearchSpace}</td><td>which layouts</td></tr>
 * <tr><td>{@link dev.pipewright.predict.transformer.search.SearchValues}</td><td>values of each dimension</td></tr>
 * <tr><td>{@link dev.pipewright.predict.transformer.search.LayoutSearch}</td><td>the search</td></tr>
 * <tr><td>{@link dev.pipewright.predict.transformer.search.LayoutSurvey}</td><td>what it found</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.predict.transformer.search;

import org.jspecify.annotations.NullMarked;
