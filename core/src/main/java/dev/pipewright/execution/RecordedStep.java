package dev.pipewright.execution;

/**
 * When everything of a step happened, by worker and position in the program of its rank; seconds
 * from the begin of the step on its first worker.
 *
 * @param step counted from the first of the run
 * @param waited when an op began to wait for what it needs
 * @param started when it had it
 * @param ended when its results were on their way
 * @param updateStarted when all gradients were there, by worker
 */
public record RecordedStep(
    long step,
    double seconds,
    double[][] waited,
    double[][] started,
    double[][] ended,
    double[] updateStarted,
    double[] updateEnded) {}
