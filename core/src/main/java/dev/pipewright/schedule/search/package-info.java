/**
 * Durations of ops, and the schedules that are searched for given ones.
 *
 * <table>
 * <caption>Schedules</caption>
 * <tr><td>{@link dev.pipewright.schedule.search.ZeroBubbleAuto}</td><td>zero bubbles for given times and memory</td></tr>
 * <tr><td>{@link dev.pipewright.schedule.search.AdaptiveV}</td><td>there and back under any cap: ZB-V, V-half, V-min</td></tr>
 * </table>
 */
@NullMarked
package dev.pipewright.schedule.search;

import org.jspecify.annotations.NullMarked;
