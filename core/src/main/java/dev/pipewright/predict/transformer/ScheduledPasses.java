package dev.pipewright.predict.transformer;

import java.util.List;

/**
 * What a schedule makes of the passes of a step.
 *
 * @param seconds until the last pass ends, where transfers take no time
 * @param waitingBytes the most that waits for backward passes on each pipeline rank
 */
public record ScheduledPasses(double seconds, List<Double> waitingBytes) {
  public ScheduledPasses {
    waitingBytes = List.copyOf(waitingBytes);
  }
}
