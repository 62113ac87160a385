/**
 * Runs schedules on simulated devices and links: the yardstick of every estimate. Two simulators
 * give the same {@link dev.pipewright.sim.Run}.
 *
 * <table>
 * <caption>Simulators</caption>
 * <tr><td>{@link dev.pipewright.sim.StaticSimulator}</td><td>a longest path over fixed orders</td></tr>
 * <tr><td>{@link dev.pipewright.sim.EventSimulator}</td><td>events; messages share links, and slow computing down</td></tr>
 * <tr><td>{@link dev.pipewright.sim.MonteCarlo}</td><td>many runs with durations that differ</td></tr>
 * <tr><td>{@link dev.pipewright.sim.CyclicMemory}</td><td>memory of cyclic workers from one curve</td></tr>
 * </table>
 *
 * <p>{@link dev.pipewright.sim.EitherSimulator} takes the quicker that can. {@link
 * dev.pipewright.sim.Conditions} say what a schedule meets; {@link dev.pipewright.sim.Recorder}
 * turns a run into a {@link dev.pipewright.trace.Timeline}. {@link
 * dev.pipewright.cost.SimulatedOracle} simulates plans.
 */
@NullMarked
package dev.pipewright.sim;

import org.jspecify.annotations.NullMarked;
