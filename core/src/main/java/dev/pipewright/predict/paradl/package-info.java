/**
 * The oracle of parallel strategies: seconds, bytes and limits of each before anything runs.
 *
 * <p>Paper: A. Kahira et al., <i>An oracle for guiding large-scale model/hybrid parallel training
 * of convolutional neural networks</i> (ParaDL), HPDC 2021, doi:10.1145/3431379.3460644, Table 3
 * and appendix.
 *
 * <table>
 * <caption>Members</caption>
 * <tr><td>{@link dev.pipewright.predict.paradl.Strategy}</td><td>which dimension is split</td></tr>
 * <tr><td>{@link dev.pipewright.predict.paradl.Layout}</td><td>in how many parts</td></tr>
 * <tr><td>{@link dev.pipewright.predict.paradl.ParadlOracle}</td><td>asks, and answers with a
 * {@link dev.pipewright.predict.paradl.Prediction}</td></tr>
 * <tr><td>{@link dev.pipewright.predict.paradl.PublishedFormulas}</td><td>the paper's Table 3 to the
 * letter</td></tr>
 * <tr><td>{@link dev.pipewright.predict.paradl.PlanEstimate}</td><td>the plan that a strategy
 * stands for, by the planners' cost model</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.predict.paradl;

import org.jspecify.annotations.NullMarked;
