package dev.pipewright.planner.pipedream;

import dev.pipewright.cost.TableCopies;
import dev.pipewright.planner.partition.OnePath;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.Quantity;

/**
 * The places where PipeDream-2BW may cut, along one path, with sums before each: place 0 before all
 * layers, place p after the path's p-th position.
 */
final class PipeDream2bwCuts {
  private final PipeDream2bwSetting setting;
  private final int[] path;
  private final double[] weights; // bytes before each place
  private final TableCopies tables;
  private final double[] kept; // of one sample
  private final double[] crossing; // of one sample

  PipeDream2bwCuts(PipeDream2bwSetting setting) {
    this.setting = setting;
    this.path = OnePath.positions(setting.chain());
    Profile profile = setting.profile();
    this.weights = sums(profile.parameterBytes());
    this.tables = TableCopies.of(setting.chain(), profile);
    this.kept = sums(profile.keptBytes());
    double[] outputs = setting.chain().crossing(profile.outputBytes());
    this.crossing = new double[path.length + 1];
    for (int i = 0; i < path.length; i++) {
      crossing[i + 1] = outputs[path[i]];
    }
  }

  private double[] sums(double[] perLayer) {
    double[] cumulative = setting.chain().cumulative(perLayer);
    double[] sums = new double[path.length + 1];
    for (int i = 0; i < path.length; i++) {
      sums[i + 1] = Math.max(sums[i], cumulative[path[i]]); // they ascend but for rounding
    }
    return sums;
  }

  int last() {
    return path.length;
  }

  /** The chain's position that is the path's {@code step}-th, from 0. */
  int position(int step) {
    return path[step];
  }

  /** Bytes of a stage's weights, with its copies of tables. */
  double weights(int from, int to) {
    return weights[to] - weights[from] + tables.bytes(after(from), after(to));
  }

  /** The position of the chain after a place. */
  private int after(int place) {
    return place == 0 ? 0 : path[place - 1] + 1;
  }

  double kept(int from, int to) {
    return kept[to] - kept[from];
  }

  double crossing(int place) {
    return crossing[place];
  }

  /** Seconds of a micro-batch before each place: recomputation is a second forward pass. */
  double[] seconds(int samples, boolean recompute) {
    double[] forward = setting.profile().seconds(Quantity.FORWARD, samples);
    double[] both = setting.profile().seconds(Quantity.BACKWARD, samples);
    for (int layer = 0; layer < both.length; layer++) {
      both[layer] += forward[layer] * (recompute ? 2 : 1);
    }
    return sums(both);
  }
}
