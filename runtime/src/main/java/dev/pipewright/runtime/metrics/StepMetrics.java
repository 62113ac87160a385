package dev.pipewright.runtime.metrics;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What was measured in a step.
 *
 * @param step counted from 1: how many steps have been made
 * @param samples trained on so far, over all epochs
 * @param unixSeconds when the step ended
 * @param values by name, in the order in which they are written
 */
public record StepMetrics(long step, long samples, double unixSeconds, Map<String, Double> values) {
  /** The mean over the batch. */
  public static final String LOSS = "loss";

  /** The share of held-out rows that are answered rightly. */
  public static final String ACCURACY = "accuracy";

  public static final String STEP_SECONDS = "step_s";
  public static final String SAMPLES_PER_SECOND = "samples_per_s";

  /** The share of the step in which workers computed nothing. */
  public static final String IDLE_SHARE = "idle_share";

  public StepMetrics {
    values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
  }
}
