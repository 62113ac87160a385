package dev.pipewright.planner;

import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.CostModel;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.PipelineOracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.planner.Planning.Search;
import dev.pipewright.schedule.catalog.ScheduleEntry;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Plans for one schedule of the catalogue: pipelines of any length with equally many devices on
 * each rank, priced by running the schedule. Layers are first cut into stages of balanced time
 * ({@link dev.pipewright.planner.partition.BlockPartition}); the most promising cuts are then
 * improved by moving cuts. Whole stages recompute where memory demands it.
 *
 * <p>For a pipeline of S stages and M micro-batches one price takes O(S · M).
 */
public final class ScheduledPlanner {
  /** The planner's name in answers. */
  public static final String NAME = "balanced";

  private static final int IMPROVED = 6; // candidates

  /**
   * How much longer than others a draft may seem to take, since that is rough and cuts can move.
   */
  private static final double HOPE = 1.1;

  /**
   * The schedule to plan for.
   *
   * @param chunks stages of each rank and direction
   */
  public record Choice(ScheduleEntry entry, int chunks) {}

  private final Choice choice;
  private final StageCosts costs;
  private final Request request;
  private final BooleanSupplier stop;
  private final List<ScheduledCuts> drafts = new ArrayList<>();
  private Optional<String> refusal = Optional.empty(); // of the schedule, for some numbers

  private ScheduledPlanner(Choice choice, StageCosts costs, Request request, BooleanSupplier stop) {
    this.choice = choice;
    this.costs = costs;
    this.request = request;
    this.stop = stop;
  }

  /**
   * The best plan that is found.
   *
   * @param decides among the best candidates
   * @param stop asked now and then; then the best so far counts
   */
  public static Planning plan(
      Choice choice, StageCosts costs, Request request, Oracle decides, BooleanSupplier stop) {
    ScheduledPlanner planner = new ScheduledPlanner(choice, costs, request, stop);
    planner.draft();
    return planner.planning(decides);
  }

  private void draft() {
    int devices = costs.workload().cluster().size();
    PipelineOracle oracle = new PipelineOracle(costs, new PathFormula());
    for (MicroBatching batching : MicroBatching.of(request, devices)) {
      for (int ranks = Math.min(2, devices); ranks <= devices; ranks++) {
        int each = devices / ranks;
        if (!stop.getAsBoolean() && allows(ranks, each, devices, batching)) {
          for (boolean neighbours : List.of(true, false)) {
            if (neighbours || each > 1) {
              ScheduledCuts.Grid grid =
                  new ScheduledCuts.Grid(ranks, each, neighbours, choice.chunks());
              ScheduledCuts.balanced(
                      choice.entry(), grid, batching, costs, request.recomputation(), oracle)
                  .ifPresent(drafts::add);
            }
          }
        }
      }
    }
  }

  private boolean allows(int ranks, int each, int devices, MicroBatching batching) {
    boolean given = request.stages().isPresent();
    return request.allows(ranks)
        && (given || ranks * each == devices)
        && each % batching.unit() == 0
        && each <= batching.samples()
        && (!request.shape().oneDevicePerStage() || each == batching.unit());
  }

  /** Prices drafts, the most promising first, until the rest cannot be much better. */
  private List<ScheduledCuts> priced() {
    drafts.sort(Comparator.comparingDouble(ScheduledCuts::roughSeconds));
    List<ScheduledCuts> priced = new ArrayList<>();
    List<Double> fitting = new ArrayList<>(); // seconds, ascending
    for (ScheduledCuts cuts : drafts) {
      boolean enough =
          fitting.size() >= IMPROVED && cuts.roughSeconds() > HOPE * fitting.get(IMPROVED - 1);
      if (enough || (stop.getAsBoolean() && !fitting.isEmpty())) {
        break;
      }
      try {
        cuts.price();
        priced.add(cuts);
      } catch (IllegalArgumentException e) { // the schedule is not for these numbers
        refusal = refusal.or(() -> Optional.ofNullable(e.getMessage()));
        continue;
      }
      if (cuts.fits()) {
        fitting.add(cuts.seconds());
        Collections.sort(fitting);
      }
    }
    priced.sort(
        Comparator.comparing(ScheduledCuts::fits)
            .reversed()
            .thenComparingDouble(ScheduledCuts::seconds));
    return priced;
  }

  private Planning planning(Oracle decides) {
    List<ScheduledCuts> promising = priced();
    List<Candidate> found = new ArrayList<>();
    long priced = 0;
    for (int i = 0; i < promising.size(); i++) {
      ScheduledCuts cuts = promising.get(i);
      if (i < IMPROVED) {
        cuts.improve(stop);
        if (cuts.fits()) {
          found.add(candidate(cuts, decides));
        }
      }
      priced += cuts.priced();
    }
    found.sort(Comparator.comparingDouble(Candidate::seconds));
    return new Planning(
        NAME,
        request.costModel().word(),
        found.stream().findFirst(),
        found,
        LowerBounds.best(costs, request.globalBatch(), CostModel.PIPEWRIGHT),
        binding(promising, found),
        LowerBounds.oneDeviceSeconds(costs, request.globalBatch(), CostModel.PIPEWRIGHT),
        new Search(
            false, priced, "equal pipelines of " + choice.entry().name() + ", balanced cuts"));
  }

  private String binding(List<ScheduledCuts> promising, List<Candidate> found) {
    if (!found.isEmpty()) {
      return Binding.of(found.get(0));
    }
    return promising.isEmpty() ? refused() : "memory";
  }

  /** Why not even one pipeline could be priced. */
  private String refused() {
    return refusal.orElse(
        "no pipeline of %s has enough layers, devices and samples; take more of them, or another schedule"
            .formatted(choice.entry().name()));
  }

  private static Candidate candidate(ScheduledCuts cuts, Oracle decides) {
    Assessment simulated = decides.assess(cuts.plan());
    return new Candidate(cuts.plan().kind(), cuts.plan(), cuts.estimate(), Optional.of(simulated));
  }

  /** Why there is no plan, and what would help. */
  public static String sentence(Choice choice, StageCosts costs, Request request) {
    ScheduledPlanner planner = new ScheduledPlanner(choice, costs, request, () -> false);
    planner.draft();
    List<ScheduledCuts> priced = planner.priced();
    if (priced.isEmpty()) {
      return planner.refused();
    }
    double least = priced.stream().mapToDouble(cuts -> cuts.estimate().peakBytes()).min().orElse(0);
    return "the smallest peak of a balanced pipeline of %s is %s on a device; take such devices, more of them, or a smaller --micro-batch"
        .formatted(choice.entry().name(), Remedy.roundedUp(least));
  }
}
