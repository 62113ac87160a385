package dev.pipewright.planner.memory;

import dev.pipewright.cost.LayerCosts;
import dev.pipewright.cost.PartlyKept;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.StageExchanges;
import dev.pipewright.cost.StageGroups;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.planner.recompute.TradeOffs;
import dev.pipewright.planner.recompute.TradeOffs.Choice;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What stages of hybrid plans hold and how much longer they take where layers may run again: a
 * forward pass that runs again also talks again to the tensor group.
 */
final class HybridRecomputation {
  private static final double ROUNDING = 1e-12;
  static final Choice NONE = new Choice(List.of(), 0, 0, 0);

  private final HybridCosts costs;
  private final Recomputation recomputation;
  private final double most; // bytes of a device
  private final Map<Integer, TradeOffs> smallest = new HashMap<>(); // of a sample, by tensor degree
  private final Map<Integer, double[][]> largest = new HashMap<>(); // by tensor degree
  private final Map<Key, TradeOffs> fastest = new HashMap<>();

  /** What seconds depend on: groups that talk as long about all layers are alike. */
  private record Key(int slice, int tensor, double slowdown, double communication) {}

  HybridRecomputation(HybridCosts costs, Recomputation recomputation) {
    this.costs = costs;
    this.recomputation = recomputation.ofLayers();
    this.most = costs.cluster().mostMemory().value();
  }

  HybridCosts costs() {
    return costs;
  }

  Recomputation recomputation() {
    return recomputation;
  }

  /** Whether no answer so far was more than the least. */
  boolean exact() {
    return smallest.values().stream().allMatch(TradeOffs::exact)
        && fastest.values().stream().allMatch(TradeOffs::exact);
  }

  /** The least bytes that each device of a stage holds. */
  double leastBytes(int first, int end, Degrees degrees, int samples, int inFlight) {
    if (recomputation == Recomputation.NEVER) {
      return costs.peakBytes(first, end, degrees, samples, inFlight);
    }
    double ofSample = smallest(degrees.tensor()).leastBytes(first, end, inFlight);
    return costs.bytesWithoutActivations(first, end, degrees, samples)
        + ofSample * StageCosts.slice(samples, degrees.data());
  }

  /** No stage with these layers and more holds less. */
  double atLeast(int first, int end, Degrees degrees, int samples, int inFlight) {
    if (recomputation == Recomputation.NEVER) {
      return costs.leastBytes(first, end, degrees, samples, inFlight);
    }
    double layer = largest(degrees.tensor())[first][end]; // held, or needed while it runs again
    double activations = layer * StageCosts.slice(samples, degrees.data());
    return (costs.bytesWithoutActivations(first, end, degrees, samples) + activations) * (1 - 1e-9);
  }

  /** What the layer keeps of a sample that keeps most, by first layer and end. */
  private double[][] largest(int tensor) {
    return largest.computeIfAbsent(
        tensor,
        key -> {
          double[] kept = costs.part(tensor).keptBytes();
          double[][] most = new double[kept.length][kept.length];
          for (int first = 0; first < kept.length; first++) {
            for (int end = first + 1; end < kept.length; end++) {
              most[first][end] = Math.max(most[first][end - 1], kept[end] - kept[end - 1]);
            }
          }
          return most;
        });
  }

  /** Whether all may be kept, and fits. */
  private boolean keeps(
      int first, int end, Degrees degrees, int samples, int inFlight, double cap) {
    return recomputation != Recomputation.ALWAYS
        && costs.peakBytes(first, end, degrees, samples, inFlight) <= cap;
  }

  /**
   * The least seconds by which a backward pass takes longer if no device is to hold more than a
   * cap, but for rounding; infinite where that is impossible.
   */
  double extraSeconds(
      int first, int end, int firstDevice, Degrees degrees, int samples, int inFlight, double cap) {
    if (keeps(first, end, degrees, samples, inFlight, cap)) {
      return 0;
    }
    if (recomputation == Recomputation.NEVER) {
      return Double.POSITIVE_INFINITY;
    }
    double bytes =
        cap * (1 + ROUNDING) - costs.bytesWithoutActivations(first, end, degrees, samples);
    return fastest(firstDevice, degrees, StageCosts.slice(samples, degrees.data()))
        .extraSeconds(first, end, inFlight, bytes);
  }

  /** What {@link #extraSeconds} of a stage that does not keep all is not below, at less cost. */
  double extraAtLeast(
      int first, int end, int firstDevice, Degrees degrees, int samples, int inFlight, double cap) {
    double bytes =
        cap * (1 + ROUNDING) - costs.bytesWithoutActivations(first, end, degrees, samples);
    if (recomputation == Recomputation.NEVER || bytes < 0) {
      return Double.POSITIVE_INFINITY;
    }
    return fastest(firstDevice, degrees, StageCosts.slice(samples, degrees.data()))
        .atLeast(first, end, inFlight, bytes);
  }

  /** The layers of {@link #extraSeconds}; with the least bytes where the cap is impossible. */
  Choice choice(
      int first, int end, int firstDevice, Degrees degrees, int samples, int inFlight, double cap) {
    if (recomputation == Recomputation.NEVER
        || keeps(first, end, degrees, samples, inFlight, cap)) {
      return NONE;
    }
    double bytes =
        cap * (1 + ROUNDING) - costs.bytesWithoutActivations(first, end, degrees, samples);
    TradeOffs timed = fastest(firstDevice, degrees, StageCosts.slice(samples, degrees.data()));
    return timed
        .choice(first, end, inFlight, bytes)
        .orElseGet(() -> {
          Choice least = smallest(degrees.tensor()).smallest(first, end, inFlight);
          return given(first, end, firstDevice, degrees, samples, least.again());
        });
  }

  /**
   * What given runs of layers mean.
   *
   * @param again positions of the costs, in order; none where all is kept
   */
  Choice given(
      int first, int end, int firstDevice, Degrees degrees, int samples, List<LayerRange> again) {
    if (again.isEmpty()) {
      return NONE;
    }
    int slice = StageCosts.slice(samples, degrees.data());
    double[] forward = forward(firstDevice, degrees, slice);
    double[] kept = costs.part(degrees.tensor()).keptBytes();
    double[][] figures = new double[3][end - first];
    for (int i = 0; i < end - first; i++) {
      figures[0][i] = forward[first + i + 1] - forward[first + i];
      figures[1][i] = (kept[first + i + 1] - kept[first + i]) * slice;
      figures[2][i] = costs.costs().cutBytes()[first + i] * slice;
    }
    LayerCosts layers = new LayerCosts(figures[0], figures[0], figures[1], figures[2]);
    List<LayerRange> fromZero =
        again.stream().map(run -> new LayerRange(run.first() - first, run.last() - first)).toList();
    PartlyKept means = PartlyKept.of(layers, fromZero);
    return new Choice(again, means.extraSeconds(), means.heldBytes(), means.workingBytes());
  }

  /** Where time is of no interest, what is held is so many times that of one sample. */
  private TradeOffs smallest(int tensor) {
    double[] noSeconds = new double[costs.costs().size() + 1];
    return smallest.computeIfAbsent(
        tensor, key -> tradeOffs(noSeconds, 1, tensor, Double.POSITIVE_INFINITY));
  }

  private TradeOffs fastest(int firstDevice, Degrees degrees, int slice) {
    int tensor = degrees.tensor();
    StageGroups on = costs.groups(firstDevice, degrees);
    double slowdown = on.slowdown();
    double communication =
        costs.exchanges(firstDevice, degrees, slice).forward()[costs.costs().size()];
    Key key = new Key(slice, tensor, slowdown, communication);
    TradeOffs known = fastest.get(key);
    if (known == null) {
      known = tradeOffs(forward(firstDevice, degrees, slice), slice, tensor, most);
      fastest.put(key, known);
    }
    return known;
  }

  /** Cumulative seconds by end of a forward pass over a slice. */
  private double[] forward(int firstDevice, Degrees degrees, int slice) {
    StageGroups on = costs.groups(firstDevice, degrees);
    double[] pass = costs.part(degrees.tensor()).forwardSeconds(slice);
    StageExchanges communication = costs.exchanges(firstDevice, degrees, slice);
    double[] seconds = new double[costs.costs().size() + 1];
    for (int end = 0; end < seconds.length; end++) {
      seconds[end] = pass[end] * on.slowdown() + communication.forward()[end];
    }
    return seconds;
  }

  private TradeOffs tradeOffs(double[] forward, int slice, int tensor, double mostBytes) {
    double[] kept = costs.part(tensor).keptBytes().clone();
    double[] input = costs.costs().cutBytes().clone();
    for (int i = 0; i < kept.length; i++) {
      kept[i] *= slice;
      input[i] *= slice;
    }
    return new TradeOffs(forward, kept, input, mostBytes, recomputation);
  }
}
