package dev.pipewright.execution;

/**
 * How all held-out samples were answered after a step.
 *
 * @param step counted from 0: the last that was made
 * @param loss the mean over these samples
 * @param correct the share of rows whose highest score is the right one, NaN where there are no
 *     classes
 */
public record HeldOutResult(long step, double loss, double correct) {}
