package dev.pipewright.runtime.engine;

/**
 * What a worker did in a step. Times are of {@link System#nanoTime}, by position in the program of
 * its rank.
 *
 * @param loss the worker's share: those of all workers add up to the mean over the batch
 * @param correct rows that the worker has seen answered rightly
 * @param rows that it has seen answered at all
 * @param waited when each op began to wait for what it needs
 * @param started when it had it
 * @param ended when its results were on their way
 */
public record StepReport(
    long step,
    double loss,
    long correct,
    long rows,
    long[] waited,
    long[] started,
    long[] ended,
    long updateStarted,
    long updateEnded) {}
