package dev.pipewright.execution;

/**
 * A step of all workers together.
 *
 * @param step counted from 0
 * @param loss the mean over the batch, before the step's update
 * @param correct the share of rows whose highest score is the right one, NaN where there are no
 *     classes
 * @param samples of the batch
 * @param seconds from the first worker's begin to the last one's end
 * @param idleShare of these in which a worker computes nothing, on average; where steps flow into
 *     one another, of all so far
 */
public record StepResult(
    long step, double loss, double correct, int samples, double seconds, double idleShare) {}
