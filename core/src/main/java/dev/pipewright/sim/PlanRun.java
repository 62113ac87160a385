package dev.pipewright.sim;

import dev.pipewright.schedule.Schedule;

/**
 * When everything of a step happened. Times of a stage and micro-batch are at index {@code stage ·
 * microBatches + microBatch}, in seconds from the start of the step.
 *
 * @param forwardEnd end of each forward pass
 * @param backwardEnd end of each backward pass
 * @param activationAt arrival, at the stage, of the activation from the stage before
 * @param gradientAt arrival, at the stage, of the gradient from the stage behind
 * @param lastBackwardEnd by stage
 * @param end of the last stage's update to finish: the step time
 */
public record PlanRun(
    Schedule schedule,
    StageTimes times,
    double[] forwardEnd,
    double[] backwardEnd,
    double[] activationAt,
    double[] gradientAt,
    double[] lastBackwardEnd,
    double end) {}
