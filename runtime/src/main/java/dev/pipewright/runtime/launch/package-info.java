/**
 * Workers as processes: how they are started and get their jobs, and how all of them end when one
 * does. Nothing here knows what they compute.
 *
 * <table>
 *   <caption>Who talks to whom</caption>
 *   <tr><td>{@link Coordinator}</td><td>in the process of the command line: starts workers, hears
 *       from all, names the first failure</td></tr>
 *   <tr><td>{@link WorkerMain}</td><td>a worker's process: runs a {@link WorkerTask}</td></tr>
 *   <tr><td>{@link JoinedHost}</td><td>on another machine: starts the workers there</td></tr>
 *   <tr><td>{@link FlightRecorder}</td><td>a file in which each worker says where it is, readable
 *       when it is dead</td></tr>
 * </table>
 *
 * <p>All connections begin with both ends proving that they know the token, or a secret that the
 * coordinator has sent over such a connection. Where workers are on other machines, all that
 * follows is encrypted and authenticated ({@code dev.pipewright.runtime.wire}); otherwise every
 * port is the loopback address's.
 */
@NullMarked
package dev.pipewright.runtime.launch;

import org.jspecify.annotations.NullMarked;
