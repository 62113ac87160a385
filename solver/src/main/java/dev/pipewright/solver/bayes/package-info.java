/**
 * Bayesian optimisation of where a chain of layers is cut, by a {@link
 * dev.pipewright.solver.bayes.GaussianProcess}: mCAP-BO.
 */
@NullMarked
package dev.pipewright.solver.bayes;

import org.jspecify.annotations.NullMarked;
