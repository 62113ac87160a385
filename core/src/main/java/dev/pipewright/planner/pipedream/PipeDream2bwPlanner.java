package dev.pipewright.planner.pipedream;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.planner.Planning.LowerBound;
import dev.pipewright.planner.SteadyRequest;
import dev.pipewright.planner.pipedream.PipeDream2bwPlanning.Candidate;
import dev.pipewright.schedule.PipeDream2bw;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * PipeDream-2BW's planner: how many copies of a pipeline of how many stages, which micro-batch,
 * with or without recomputation, for the highest throughput that fits in memory.
 *
 * <p>Paper: D. Narayanan, A. Phanishayee, K. Shi, X. Chen, M. Zaharia, <i>Memory-Efficient
 * Pipeline-Parallel DNN Training</i>, ICML 2021, arXiv:2006.09503, §4: exhaustive search over
 * width, depth, micro-batch and recomputation; throughput by the slowest stage, {@code max(compute
 * + transfers that come in, all-reduce / micro-batches per update)}; memory by two versions of the
 * weights and the activations of up to {@code depth} micro-batches, or with recomputation their
 * inputs and one micro-batch's activations.
 *
 * <p>Departs: the paper cuts networks of equal blocks evenly, here the cuts are the best for each
 * configuration, on one path through branches; gradients and the optimizer's state count as memory;
 * stage s of S holds S − s micro-batches; recomputation costs a forward pass as profiled; an update
 * needs as many micro-batches as stages, which is when two versions suffice (§3.1).
 */
public final class PipeDream2bwPlanner {
  /** The planner's name. */
  public static final String NAME = PipeDream2bw.NAME;

  private final PipeDream2bwSetting setting;
  private final PipeDream2bwCuts places;
  private final List<Candidate> candidates = new ArrayList<>();
  private double leastPeak = Double.POSITIVE_INFINITY;
  private double perSample = Double.POSITIVE_INFINITY; // all work, at the best micro-batch
  private boolean complete = true;

  private PipeDream2bwPlanner(PipeDream2bwSetting setting) {
    this.setting = setting;
    this.places = new PipeDream2bwCuts(setting);
  }

  /**
   * Tries every configuration.
   *
   * @param stop asked before each; once true, always true
   */
  public static PipeDream2bwPlanning plan(PipeDream2bwSetting setting, BooleanSupplier stop) {
    return new PipeDream2bwPlanner(setting).run(stop);
  }

  /**
   * Plans for a priced network on a cluster of equal groups, whose smallest device sets the memory.
   *
   * @param request whose batch is the samples of an update
   */
  public static PipeDream2bwPlanning plan(
      StageCosts costs, SteadyRequest request, BooleanSupplier stop) {
    Workload workload = costs.workload();
    return plan(
        new PipeDream2bwSetting(
            workload.chain(),
            workload.profile(),
            workload.training(),
            BandwidthLevel.of(workload.cluster()),
            workload.cluster().leastMemory().value(),
            request.batch().orElseThrow(),
            request.stages()),
        stop);
  }

  private PipeDream2bwPlanning run(BooleanSupplier stop) {
    int batch = setting.globalBatch();
    for (int samples = 1; samples <= batch; samples++) {
      if (batch % samples == 0) {
        double[] seconds = places.seconds(samples, false);
        perSample = Math.min(perSample, seconds[places.last()] / samples);
      }
    }
    for (int width = 1; width <= setting.devices(); width++) {
      int depth = setting.stages().orElse(setting.devices() / width);
      boolean all = width * depth == setting.devices();
      boolean enough = setting.stages().isPresent() && width * depth < setting.devices();
      if ((all || enough) && batch % width == 0) {
        tryWidth(width, depth, stop);
      }
    }
    candidates.sort(
        Comparator.comparingDouble(Candidate::seconds)); // stable: of equals the narrowest
    double all = perSample * batch;
    LowerBound bound = new LowerBound(all / setting.devices(), "work / devices");
    return new PipeDream2bwPlanning(setting, candidates, leastPeak, all, bound, complete);
  }

  private void tryWidth(int width, int depth, BooleanSupplier stop) {
    int samples = setting.globalBatch() / width; // of one copy
    for (int microBatch = 1;
        microBatch <= samples / depth && depth <= places.last();
        microBatch++) {
      if (samples % microBatch != 0) {
        continue;
      }
      for (boolean recompute : new boolean[] {false, true}) {
        complete &= !stop.getAsBoolean();
        if (complete) {
          var configuration =
              new PipeDream2bwConfiguration(places, setting, width, depth, microBatch, recompute);
          configuration.fastest().ifPresent(candidates::add);
          if (candidates.isEmpty()) { // for the refusal, which says what would fit
            leastPeak = Math.min(leastPeak, configuration.leastPeakBytes());
          }
        }
      }
    }
  }
}
