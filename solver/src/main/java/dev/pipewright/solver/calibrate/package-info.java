/**
 * Fits the constants of the oracle of transformers to measured steps, and says how far the result
 * can be trusted. Everything is deterministic: the same steps give the same constants.
 *
 * <table>
 * <caption>Concepts</caption>
 * <tr><td>{@link dev.pipewright.solver.calibrate.FreeConstant}</td><td>a constant that may move: start, bounds, prior</td></tr>
 * <tr><td>{@link dev.pipewright.solver.calibrate.ConstantsFit}</td><td>robust least squares in log space</td></tr>
 * <tr><td>{@link dev.pipewright.solver.calibrate.LeftOutGroups}</td><td>cross-validation over networks and machines</td></tr>
 * <tr><td>{@link dev.pipewright.solver.calibrate.ConformalInterval}</td><td>intervals from residuals</td></tr>
 * <tr><td>{@link dev.pipewright.solver.calibrate.LayoutDifferences}</td><td>how far errors of two layouts lie apart</td></tr>
 * <tr><td>{@link dev.pipewright.solver.calibrate.StepErrors}</td><td>mean, median, 90th percentile and worst of errors</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.solver.calibrate;

import org.jspecify.annotations.NullMarked;
