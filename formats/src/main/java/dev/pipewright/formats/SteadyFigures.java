package dev.pipewright.formats;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the simulator says of a plan without flushes once its pipeline is full.
 *
 * @param seconds of a mini-batch, or of an update
 * @param rounds over which that is the mean
 * @param idleShare the part of a round for which a device computes nothing, on average
 * @param peakBytes of each device of the cluster
 * @param difference from the planner's objective, in words: what its formula leaves out
 */
public record SteadyFigures(
    double seconds, int rounds, double idleShare, List<Long> peakBytes, String difference) {
  public SteadyFigures {
    peakBytes = List.copyOf(peakBytes);
  }

  /** The object {@code simulated} of an answer. */
  public Map<String, Object> object() {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("minibatch_s", seconds);
    object.put("rounds", rounds);
    object.put("idle_share", idleShare);
    object.put("steady_idle_share", idleShare); // its name in all other answers
    object.put("peak_bytes", peakBytes);
    object.put("difference", difference);
    return object;
  }
}
