/**
 * Pipelines that never flush, simulated until they run evenly: {@link
 * dev.pipewright.sim.steady.SteadyState}.
 */
@NullMarked
package dev.pipewright.sim.steady;

import org.jspecify.annotations.NullMarked;
