package dev.pipewright.planner;

import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PeakMemory;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.partition.OnePath;
import dev.pipewright.schedule.search.ScheduleSearch;
import dev.pipewright.schedule.search.SearchDepth;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Searches equal pipelines from layout to neighbouring layout, best first: of all that were priced
 * the best has its next neighbour priced. Schedules that are made for durations take too long for
 * that and are left out.
 */
final class LayoutClimb {
  private static final int TURNS = 3;
  private static final int FEWEST = 24; // layouts that are priced where none fits
  private static final double WORTH = 1.1; // times the best: no recomputation is worked out beyond

  private final StageCosts costs;
  private final Request request;
  private final Neighbours neighbours;
  private final Oracle decides;
  private final BooleanSupplier stop;
  private final PipelineOracle estimates;
  private final PipelineOracle queues; // prices layouts
  private final int[] path;
  private final Map<List<Object>, ScheduleSearch> known = new HashMap<>();
  private final Set<PipelineLayout> seen = new HashSet<>();
  private final PriorityQueue<Priced> open = new PriorityQueue<>(Priced.BEST);
  private Optional<Priced> best = Optional.empty();
  private long passes;
  private int bestAt; // layouts that were priced before it
  private double bestSeconds; // by the simulator, where it fits

  /**
   * A layout with its cuts, which are balanced.
   *
   * @param rest neighbours that were not priced yet
   */
  private record Priced(PipelineLayout layout, ScheduledCuts cuts, Iterator<PipelineLayout> rest) {
    static final Comparator<Priced> BEST =
        Comparator.comparingDouble(Priced::beyond).thenComparingDouble(Priced::seconds);

    boolean fits() {
      return cuts.fits();
    }

    /** What the fullest device lacks, as a share of its memory. */
    double beyond() {
      double fullest =
          cuts.estimate().memory().stream().mapToDouble(PeakMemory::share).max().orElse(0);
      return fits() ? 0 : fullest;
    }

    double seconds() {
      return PricedPipeline.seconds(cuts, left());
    }

    /** Micro-batches that the cuts were not priced for. */
    int left() {
      int few = layout.batching().fewer(layout.grid().ranks()).microBatches();
      return layout.batching().microBatches() - few;
    }
  }

  /**
   * Of a network on a cluster.
   *
   * @param enough seconds of a known plan: only what is faster counts
   * @param stop asked before each price
   */
  LayoutClimb(
      StageCosts costs,
      Request request,
      Neighbours neighbours,
      double enough,
      Oracle decides,
      BooleanSupplier stop) {
    this.costs = costs;
    this.request = request;
    this.neighbours = neighbours;
    this.bestSeconds = enough;
    this.decides = decides;
    this.stop = stop;
    this.estimates = new PipelineOracle(costs, new PathFormula());
    this.queues = estimates.withQueues();
    this.path = OnePath.positions(costs.workload().chain());
  }

  /**
   * Searches.
   *
   * @param near layouts that are priced first
   * @param others now and then one of these is priced, too
   * @param most layouts that are priced
   * @param inVain layouts that are priced one after the other without a better one
   * @param mostPasses of micro-batches through stages in all that is priced
   */
  void search(
      List<PipelineLayout> near,
      List<PipelineLayout> others,
      int most,
      int inVain,
      long mostPasses) {
    near.forEach(this::price);
    Iterator<PipelineLayout> next = others.iterator();
    while (goesOn() && seen.size() < most && seen.size() - bestAt < inVain && passes < mostPasses) {
      if (next.hasNext() && (open.isEmpty() || seen.size() % TURNS == 0 || !fits())) {
        price(next.next());
      } else if (!open.isEmpty()) {
        Iterator<PipelineLayout> rest = open.element().rest();
        if (rest.hasNext()) {
          price(rest.next());
        } else {
          open.remove();
        }
      } else {
        return;
      }
    }
  }

  private boolean fits() {
    return best.filter(Priced::fits).isPresent() || bestSeconds < Double.POSITIVE_INFINITY;
  }

  /** Layouts that were priced. */
  int priced() {
    return seen.size();
  }

  /**
   * The best that fits and is faster than what was known, with all its micro-batches.
   *
   * @param moves plans that are priced to move its cuts
   */
  Optional<Candidate> found(int moves) {
    return best.filter(Priced::fits)
        .map(found -> {
          found.cuts().improve(moves, stop);
          return found.cuts().with(found.layout().batching()).plan();
        })
        .flatMap(plan ->
            OverlapChoice.of(plan, request, estimates, decides).stream()
                .min(Comparator.comparingDouble(Candidate::seconds)));
  }

  /** At least until something fits, unless that takes long. */
  private boolean goesOn() {
    return (!fits() && seen.size() < FEWEST) || !stop.getAsBoolean();
  }

  /** Prices a layout that was not priced before, while there is time. */
  private void price(PipelineLayout layout) {
    if (layout.choice().entry().needsDurations() || !goesOn() || !seen.add(layout)) {
      return;
    }
    MicroBatching few = layout.batching().fewer(layout.grid().ranks());
    passes += (long) layout.grid().stages() * few.microBatches();
    try {
      ScheduledCuts.balanced(
              layout.choice().entry(), layout.grid(), few, costs, request, queues, path, known)
          .ifPresent(cuts -> {
            cuts.price(new Worth(WORTH * bestSeconds, 0), false, SearchDepth.FULL);
            Priced priced = new Priced(layout, cuts, neighbours.of(layout).iterator());
            open.add(priced);
            take(priced);
          });
    } catch (IllegalArgumentException e) {
      return; // the schedule is not for these numbers
    }
  }

  /** Takes it for the best if its estimate promises it and the simulator agrees. */
  private void take(Priced priced) {
    if (!priced.fits()) {
      boolean nearer = best.isEmpty() || priced.beyond() < best.get().beyond();
      best = nearer ? Optional.of(priced) : best;
    } else if (priced.seconds() < bestSeconds) {
      double few = decides.assess(priced.cuts().plan()).stepSeconds();
      double seconds = few + priced.seconds() - priced.cuts().seconds();
      if (seconds < bestSeconds) {
        best = Optional.of(priced);
        bestSeconds = seconds;
        bestAt = seen.size();
      }
    }
  }
}
