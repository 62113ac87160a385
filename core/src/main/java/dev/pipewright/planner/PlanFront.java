package dev.pipewright.planner;

import dev.pipewright.planner.Planning.Candidate;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Plans that no other excels: every other takes longer, fills its fullest device more, or needs
 * more devices where these count.
 */
public final class PlanFront {
  private PlanFront() {}

  /**
   * The front of some plans, of the fewest devices first where these count, and the fastest first.
   * Of plans that are equal in all, the first is kept.
   *
   * @param devices whether a plan on fewer devices may take longer and need more memory
   */
  public static List<Candidate> of(List<Candidate> plans, boolean devices) {
    List<Candidate> sorted = new ArrayList<>(plans);
    sorted.sort(
        Comparator.comparingInt((Candidate each) -> devices ? each.plan().devices() : 0)
            .thenComparingDouble(Candidate::seconds)
            .thenComparingDouble(Candidate::peakBytes));
    List<Candidate> front = new ArrayList<>();
    for (Candidate each : sorted) { // those before it take no more devices
      if (front.stream().noneMatch(other -> excels(other, each))) {
        front.add(each);
      }
    }
    return front;
  }

  private static boolean excels(Candidate one, Candidate other) {
    return one.seconds() <= other.seconds() && one.peakBytes() <= other.peakBytes();
  }
}
