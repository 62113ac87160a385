package dev.pipewright.planner.memory;

import dev.pipewright.cost.SplitConcat;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.StageGroups;
import java.util.Arrays;

/**
 * Moving a boundary activation between two stages of a hybrid plan, and its gradient back.
 *
 * <p>Every device sends an equal part of the micro-batch, also the devices of a tensor group, which
 * all have the same samples; tensor groups then gather what they need whole (D. Narayanan et al.,
 * <i>Efficient large-scale language model training on GPU clusters</i>, SC 2021, §4.1).
 */
final class Transfer {
  /** Behind the last stage. */
  static final Transfer NONE = new Transfer(new double[0], new double[0]);

  private final double[] there; // by end of the stage before
  private final double[] back;

  private Transfer(double[] there, double[] back) {
    this.there = there;
    this.back = back;
  }

  /** Between a stage that ends and one that begins anywhere, on these devices. */
  static Transfer between(
      HybridCosts costs,
      StageGroups from,
      Degrees fromDegrees,
      StageGroups to,
      Degrees toDegrees,
      int samples) {
    SplitConcat ahead = SplitConcat.betweenPasses(costs.cluster(), from.devices(), to.devices());
    SplitConcat home = SplitConcat.betweenPasses(costs.cluster(), to.devices(), from.devices());
    double[] cut = costs.costs().cutBytes();
    double[] there = new double[cut.length];
    double[] back = new double[cut.length];
    for (int end = 1; end < cut.length - 1; end++) {
      double wanted = cut[end] * StageCosts.slice(samples, toDegrees.data());
      double returned = cut[end] * StageCosts.slice(samples, fromDegrees.data());
      there[end] = ahead.seconds(cut[end] * samples) + to.tensor().allGather(wanted);
      back[end] = home.seconds(cut[end] * samples) + from.tensor().allGather(returned);
    }
    return new Transfer(there, back);
  }

  /** Seconds of the activation behind position {@code end - 1}; 0 behind the last stage. */
  double there(int end) {
    return end < there.length ? there[end] : 0;
  }

  /** Seconds of its gradient. */
  double back(int end) {
    return end < back.length ? back[end] : 0;
  }

  @Override
  public String toString() {
    return Arrays.toString(there) + " there, " + Arrays.toString(back) + " back";
  }
}
