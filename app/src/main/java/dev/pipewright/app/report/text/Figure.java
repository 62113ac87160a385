package dev.pipewright.app.report.text;

import dev.pipewright.cost.PeakMemory;

/**
 * A headline figure of a report.
 *
 * @param note what to know about the value; may be empty
 */
public record Figure(String label, String value, String note) {
  /** Whether the capacity is a number to show rather than a stand-in for none. */
  public static boolean isLimited(PeakMemory memory) {
    return isLimited((double) memory.capacity().value());
  }

  public static boolean isLimited(double capacity) {
    return capacity > 0 && capacity < 1L << 60;
  }
}
