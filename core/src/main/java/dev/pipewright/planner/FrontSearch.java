package dev.pipewright.planner;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.cost.Assessment;
import dev.pipewright.cost.Oracle;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.Planning.Candidate;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.Check;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * Plans between the fastest and the one of least memory: the planner is asked again and again for
 * the fastest plan in less memory than the last one needs. All candidates that it prices on the way
 * count.
 *
 * <p>This is the ε-constraint method (Y. Haimes, L. Lasdon, D. Wismer, <i>On a bicriterion
 * formulation of the problems of integrated system identification and system optimization</i>, IEEE
 * Transactions on Systems, Man, and Cybernetics 1, 1971): where the planner is exact and limits
 * fall no further than below the last peak, the front is exact, too.
 */
public final class FrontSearch {
  private final StageCosts costs;
  private final Oracle estimates;
  private final Oracle decides;
  private final Map<PipelinePlan, Candidate> found = new LinkedHashMap<>();
  private int searches;

  private FrontSearch(StageCosts costs, Oracle estimates, Oracle decides) {
    this.costs = costs;
    this.estimates = estimates;
    this.decides = decides;
  }

  /**
   * What was found.
   *
   * @param plans all that fit, each as it is on the given devices
   * @param searches that were made
   */
  public record Result(List<Candidate> plans, int searches) {
    public Result {
      plans = List.copyOf(plans);
    }
  }

  /**
   * How far to search.
   *
   * @param less by which share of itself a limit is lower than the one before, at least; 0 for no
   *     more than the last plan's peak demands
   * @param searches at most
   */
  public record Steps(double less, int searches) {
    public Steps {
      Check.that(less >= 0 && less < 1, "limits fall by a share: less=%s", less);
      Check.that(searches >= 1, "at least one search is made: searches=%d", searches);
    }
  }

  /**
   * Searches under falling limits until nothing fits.
   *
   * @param estimates of plans on the devices as they are
   * @param decides the second oracle, a simulator
   * @param plans plans on devices with less memory
   * @param stop asked before every search but the first whether to leave it at that
   */
  public static Result of(
      StageCosts costs,
      Oracle estimates,
      Oracle decides,
      Function<StageCosts, Planning> plans,
      Steps steps,
      BooleanSupplier stop) {
    FrontSearch search = new FrontSearch(costs, estimates, decides);
    search.run(plans, steps, stop);
    return new Result(search.decided(), search.searches);
  }

  private void run(Function<StageCosts, Planning> plans, Steps steps, BooleanSupplier stop) {
    double limit = costs.workload().cluster().mostMemory().value();
    StageCosts limited = costs;
    while (searches < steps.searches() && (searches == 0 || !stop.getAsBoolean())) {
      Planning planning = plans.apply(limited);
      searches++;
      if (planning.best().isEmpty()) {
        return;
      }
      planning.candidates().forEach(this::add);
      double peak = planning.best().get().peakBytes();
      limit = Math.min(Math.ceil(peak) - 1, limit * (1 - steps.less()));
      if (limit < 1) {
        return;
      }
      limited = within((long) limit);
    }
  }

  /** A plan on the devices as they are. */
  private void add(Candidate candidate) {
    found.computeIfAbsent(
        candidate.plan(),
        plan -> {
          Assessment estimate = estimates.assess(plan);
          return new Candidate(candidate.kind(), plan, estimate, candidate.simulated());
        });
  }

  /** Those of the front are assessed by the second oracle, until all of them are. */
  private List<Candidate> decided() {
    found.values().removeIf(each -> !each.estimate().fits());
    boolean all = false;
    while (!all) {
      all = true;
      for (Candidate each : PlanFront.of(List.copyOf(found.values()), true)) {
        if (each.simulated().isEmpty()) {
          found.put(each.plan(), each.simulated(decides.assess(each.plan())));
          all = false;
        }
      }
    }
    return List.copyOf(found.values());
  }

  /** The same network where no device has more memory. */
  private StageCosts within(long bytes) {
    Workload all = costs.workload();
    Cluster cluster = all.cluster();
    List<DeviceKind> kinds = new ArrayList<>();
    for (DeviceKind kind : cluster.devices()) {
      kinds.add(kind.memory().value() <= bytes ? kind : kind.withMemory(new Bytes(bytes)));
    }
    Cluster limited =
        new Cluster(cluster.name(), kinds, cluster.levels(), cluster.groups(), cluster.software());
    return costs.with(new Workload(all.chain(), all.profile(), all.training(), limited));
  }
}
