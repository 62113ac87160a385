/**
 * Connections between processes of a run: each end proves that it knows a secret before anything
 * else is said, and between machines every frame is encrypted and authenticated.
 *
 * <table>
 *   <caption>What keeps strangers out</caption>
 *   <tr><td>{@link Secret}</td><td>a key, and what is derived from it</td></tr>
 *   <tr><td>{@link Door}</td><td>a port: accepts, authenticates within a deadline, drops the rest</td></tr>
 *   <tr><td>{@link Tls}</td><td>certificates of the machines, where they have any</td></tr>
 *   <tr><td>{@link Connection}</td><td>one whose other end has proved that it knows the secret</td></tr>
 * </table>
 *
 * <p>On one machine the kernel keeps connections apart: only the superuser can read or write those
 * of others, so frames are not sealed there.
 */
@NullMarked
package dev.pipewright.runtime.wire;

import org.jspecify.annotations.NullMarked;
