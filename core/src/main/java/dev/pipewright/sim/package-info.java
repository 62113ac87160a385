/**
 * Runs schedules on simulated devices and links: the yardstick of every estimate.
 *
 * <p>{@link dev.pipewright.sim.StaticSimulator} is a longest path over fixed orders; {@link
 * dev.pipewright.sim.SimulatedOracle} answers for plans; {@link dev.pipewright.sim.Recorder} turns
 * a run into a {@link dev.pipewright.trace.Timeline}.
 */
@NullMarked
package dev.pipewright.sim;

import org.jspecify.annotations.NullMarked;
