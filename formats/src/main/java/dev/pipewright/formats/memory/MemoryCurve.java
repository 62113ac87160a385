package dev.pipewright.formats.memory;

import dev.pipewright.sim.CyclicMemory;

/**
 * The recorded memory of one worker over one training step.
 *
 * @param seconds of the samples, ascending; the last ends the step
 * @param bytes from each sample until the next
 * @param least of the samples: what a worker holds all the time
 * @param leastLine the line of its file that says so, from 1
 */
public record MemoryCurve(double[] seconds, double[] bytes, double least, int leastLine) {
  /** What the worker holds beyond {@code baseline}, which is at most the smallest sample. */
  public CyclicMemory above(double baseline) {
    double[] rest = bytes.clone();
    for (int i = 0; i < rest.length; i++) {
      rest[i] -= baseline;
    }
    return new CyclicMemory(seconds, rest);
  }
}
