package dev.pipewright.trace;

import java.util.Arrays;

/**
 * Bytes over time, as steps: {@code bytes[i]} holds from {@code seconds[i]} until the next, the
 * last for ever. Times begin with 0 and never fall; a step that takes no time is there all the
 * same.
 */
public record Staircase(double[] seconds, double[] bytes) {
  /** Bytes at a time, or after all steps that begin at it. */
  public double at(double time) {
    int after = Arrays.binarySearch(seconds, Math.nextUp(time));
    int first = after >= 0 ? after : -after - 1;
    while (first > 0 && seconds[first - 1] > time) { // equal times: the search finds any of them
      first--;
    }
    return first == 0 ? 0 : bytes[first - 1];
  }

  public double most() {
    double most = 0;
    for (double value : bytes) {
      most = Math.max(most, value);
    }
    return most;
  }
}
