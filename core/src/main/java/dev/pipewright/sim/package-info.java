/**
 * Runs schedules on simulated devices and links: the yardstick of every estimate.
 *
 * <table>
 * <caption>Engines</caption>
 * <tr><td>{@link dev.pipewright.sim.PlanSimulator}</td><td>plans: a longest path over fixed orders,
 * one stage per rank, transfers on links of their own</td></tr>
 * <tr><td>{@link dev.pipewright.sim.PlanSimulator}</td><td>any schedule: a longest path, transfers a delay</td></tr>
 * <tr><td>{@link dev.pipewright.sim.EventSimulator}</td><td>any schedule: events, messages share links</td></tr>
 * <tr><td>{@link dev.pipewright.sim.CyclicMemory}</td><td>memory of cyclic workers from one curve</td></tr>
 * </table>
 *
 * <p>{@link dev.pipewright.sim.SimulatedOracle} answers for plans; {@link
 * dev.pipewright.sim.Recorder} turns a run into a {@link dev.pipewright.trace.Timeline}.
 */
@NullMarked
package dev.pipewright.sim;

import org.jspecify.annotations.NullMarked;
