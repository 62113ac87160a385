/**
 * Which activations to give up after the forward pass and compute again: the optimum for one chain
 * of layers under a memory limit, and for a pipeline's stage that holds several micro-batches.
 */
@NullMarked
package dev.pipewright.planner.recompute;

import org.jspecify.annotations.NullMarked;
