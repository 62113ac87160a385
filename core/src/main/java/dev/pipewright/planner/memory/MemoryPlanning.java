package dev.pipewright.planner.memory;

import dev.pipewright.planner.memory.Balance.LowerBound;
import dev.pipewright.units.Units;
import java.util.List;
import java.util.Optional;

/**
 * What a planner of this package found and why to believe it.
 *
 * @param planner its name
 * @param best the plan; empty where its fullest device holds more than it has
 * @param candidates the best and its rivals, the smallest peak first; where none fits, the smallest
 * @param lowerBound no plan has a smaller peak
 * @param binding what keeps the peak from being smaller, in words with numbers
 * @param runnerUp the best plan that avoids what binds, where the planner knows one
 * @param exhaustive whether nothing better exists: neither a smaller peak nor, among the
 *     candidates, a faster one
 * @param considered partitions or plans that were looked at; 0 where nobody counts
 */
public record MemoryPlanning(
    String planner,
    Optional<HybridPlan> best,
    List<HybridPlan> candidates,
    LowerBound lowerBound,
    String binding,
    Optional<RunnerUp> runnerUp,
    boolean exhaustive,
    long considered) {
  /**
   * A plan in a few words.
   *
   * @param gap how much more its fullest device holds, as a share of the best
   */
  public record RunnerUp(String summary, double peakBytes, double gap) {}

  public MemoryPlanning {
    candidates = List.copyOf(candidates);
  }

  /** The least peak that was found, whether it fits or not. */
  public double peakBytes() {
    return candidates.get(0).peakBytes();
  }

  /** How far above the lower bound the peak is, as a share of the bound. */
  public double gap() {
    return lowerBound.bytes() > 0 ? peakBytes() / lowerBound.bytes() - 1 : 0;
  }

  /** Why nothing fits and how much memory would do. */
  public String remedy() {
    HybridPlan smallest = candidates.get(0);
    HybridPlan.Stage stage = smallest.stages().get(smallest.fullest());
    boolean one = stage.firstLayer() == stage.lastLayer();
    return "the smallest peak of any plan is "
        + Units.binary(peakBytes(), "B")
        + " (stage "
        + smallest.fullest()
        + ", "
        + (one
            ? "layer " + stage.firstLayer() + " alone"
            : "layers " + stage.firstLayer() + " to " + stage.lastLayer())
        + "), and a device has "
        + stage.cost().memory().capacity()
        + "; give the devices that much with --memory"
        + (one ? "" : ", or take more of them")
        + (smallest.microBatch() > 1 ? ", or a smaller --micro-batch" : "");
  }

  /** CAPTURE's answer. */
  static MemoryPlanning of(Capture.Found found) {
    return new MemoryPlanning(
        "capture",
        found.best(),
        found.front(),
        found.lowerBound(),
        found.binding(),
        second(found.front()),
        found.exhaustive(),
        0);
  }

  /** The next larger plan of a front is faster: what a little more memory would buy. */
  private static Optional<RunnerUp> second(List<HybridPlan> front) {
    if (front.size() < 2) {
      return Optional.empty();
    }
    double peak = front.get(1).peakBytes();
    return Optional.of(
        new RunnerUp(front.get(1).summary(), peak, peak / front.get(0).peakBytes() - 1));
  }
}
