package dev.pipewright.planner.madpipe;

import dev.pipewright.planner.Planning.LowerBound;
import dev.pipewright.planner.SteadyPlanning;
import java.util.List;
import java.util.Optional;

/**
 * What a periodic planning found, each plan the best of its kind; empty where nothing of the kind
 * fits, or where nothing better than the kinds before it was found.
 *
 * @param problem what was asked
 * @param plain one stage per device, as many batches each as there are stages from it on
 * @param star one stage per device, as few batches as possible: the optimum where the search ended
 *     by itself
 * @param dropping one stage per device, every so many-th batch dropped; better than star
 * @param general devices with several stages; better than star and dropping
 * @param bounds that no plan is below, the highest first
 * @param complete whether the search ended by itself
 */
public record PeriodicPlanning(
    PeriodicProblem problem,
    Optional<PlacedPattern> plain,
    Optional<PlacedPattern> star,
    Optional<PlacedPattern> dropping,
    Optional<PlacedPattern> general,
    List<LowerBound> bounds,
    boolean complete)
    implements SteadyPlanning {
  public PeriodicPlanning {
    bounds = List.copyOf(bounds);
  }

  /** The best of all. */
  public Optional<PlacedPattern> best() {
    return general.or(this::contiguous);
  }

  /** The best with one stage per device. */
  public Optional<PlacedPattern> contiguous() {
    return dropping.or(() -> star);
  }

  /** The bound that binds. */
  @Override
  public LowerBound lowerBound() {
    return bounds.get(0);
  }

  /** The best plan's period, per batch. */
  @Override
  public double seconds() {
    return best().map(PlacedPattern::secondsPerBatch).orElse(Double.POSITIVE_INFINITY);
  }

  /** How much longer the best plan takes than the bound, as a share of the bound. */
  @Override
  public double gap() {
    return best().map(plan -> lowerBound().gap(seconds())).orElse(Double.POSITIVE_INFINITY);
  }

  @Override
  public Optional<String> remedy() {
    return best().isPresent() ? Optional.empty() : Optional.of(binding());
  }

  /** How many times longer the best plan with one stage per device takes than the best. */
  public double contiguousRatio() {
    return best().isEmpty() || contiguous().isEmpty()
        ? Double.POSITIVE_INFINITY
        : contiguous().get().secondsPerBatch() / best().get().secondsPerBatch();
  }

  /** What keeps the best plan from being faster; where nothing fits, what would. */
  public String binding() {
    return PeriodicBinding.words(this);
  }
}
