/**
 * Who does what in which order: integers only, no durations.
 *
 * <table>
 * <caption>Schedules</caption>
 * <tr><td>{@link dev.pipewright.schedule.GPipe}</td><td>all forwards, then all backwards</td></tr>
 * <tr><td>{@link dev.pipewright.schedule.OneForwardOneBackward}</td><td>early backward: DAPPLE policies A and B</td></tr>
 * <tr><td>{@link dev.pipewright.schedule.Interleaved}</td><td>1F1B with several stages on a rank, in groups</td></tr>
 * <tr><td>{@link dev.pipewright.schedule.InterleavedZeroBubble}</td><td>the same with backward passes in halves</td></tr>
 * <tr><td>{@link dev.pipewright.schedule.LoopedBreadthFirst}</td><td>GPipe with several stages on a rank</td></tr>
 * <tr><td>{@link dev.pipewright.schedule.ZeroBubbleH1}</td><td>weight gradients fill the drain, memory of 1F1B</td></tr>
 * <tr><td>{@link dev.pipewright.schedule.ZeroBubbleH2}</td><td>no bubble in the span, twice the memory</td></tr>
 * <tr><td>{@link dev.pipewright.schedule.OneForwardOneBackwardV}</td><td>1F1B there and back</td></tr>
 * <tr><td>{@link dev.pipewright.schedule.DualPipe}</td><td>both ways at once, pairs overlapped</td></tr>
 * <tr><td>{@link dev.pipewright.schedule.DualPipeV}</td><td>DualPipe cut in half</td></tr>
 * <tr><td>{@link dev.pipewright.schedule.Gems}</td><td>both ways, one micro-batch at a time, least memory</td></tr>
 * <tr><td>{@link dev.pipewright.schedule.Chimera}</td><td>two pipelines merged</td></tr>
 * <tr><td>{@link dev.pipewright.schedule.Hanayo}</td><td>there and back, in waves</td></tr>
 * <tr><td>{@link dev.pipewright.schedule.PipeDream}</td><td>asynchronous 1F1B, an update for every micro-batch</td></tr>
 * <tr><td>{@link dev.pipewright.schedule.PipeDream2bw}</td><td>asynchronous, two versions of the parameters</td></tr>
 * </table>
 *
 * <p>{@link dev.pipewright.schedule.Recomputed} and {@link dev.pipewright.schedule.StepEnd} add to
 * any of them. Data-parallel workers are in {@code dev.pipewright.schedule.cyclic}, periodic
 * patterns in {@code dev.pipewright.schedule.periodic}, schedules searched for given durations in
 * {@code dev.pipewright.schedule.search}; {@code dev.pipewright.schedule.check} says whether one
 * can run. {@code dev.pipewright.schedule.catalog} has all of them by name.
 */
@NullMarked
package dev.pipewright.schedule;

import org.jspecify.annotations.NullMarked;
