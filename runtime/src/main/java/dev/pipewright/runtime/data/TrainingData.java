package dev.pipewright.runtime.data;

/**
 * What a network is trained on.
 *
 * @param heldOut samples that it never learns from, to see how good it is; none for very small sets
 */
public record TrainingData(Dataset training, Dataset heldOut) {}
