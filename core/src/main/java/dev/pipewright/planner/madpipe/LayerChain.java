package dev.pipewright.planner.madpipe;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.LayerCosts;
import dev.pipewright.cost.PartlyKept;
import dev.pipewright.cost.SplitConcat;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.planner.partition.CoarseCuts;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.planner.recompute.TradeOffs;
import dev.pipewright.planner.recompute.TradeOffs.Choice;
import dev.pipewright.schedule.periodic.StageLoad;
import dev.pipewright.units.Check;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A chain of layers as periodic planners price it: every stage in O(1), from sums.
 *
 * <p>Paper: O. Beaumont et al., <i>Pipelined Model Parallelism</i>, Euro-Par 2021, §3: u_F, u_B, W
 * and a of every layer; a transfer through a cut takes a/β each way. Departs: a stage may also hold
 * a copy of its input.
 *
 * <p>A stage is given by {@code first} and {@code end}: layers {@code first..end-1}.
 */
public final class LayerChain {
  private final double[] forward; // cumulative by end: seconds
  private final double[] backward;
  private final double[] state; // bytes
  private final double[] kept; // bytes of a batch
  private final double[] input; // by first: bytes that a stage holds of its input, for each batch
  private final double[] transfer; // by cut: seconds of one transfer; 0 at both ends
  private final int[] places; // by end: the position in the network's chain
  private final CopyBytes copies;
  private @Nullable TradeOffs tradeOffs;
  private double tradeOffBytes;
  private Recomputation tradeOffKind = Recomputation.NEVER;

  /** Bytes of tables that a stage holds in addition to the sums over its layers. */
  interface CopyBytes {
    CopyBytes NONE = (first, end) -> 0;

    /**
     * The bytes of a stage.
     *
     * @param first position in the network's chain
     */
    double of(int first, int end);
  }

  LayerChain(double[][] sums, double[] input, double[] transfer, int[] places, CopyBytes copies) {
    this.copies = copies;
    forward = sums[0];
    backward = sums[1];
    state = sums[2];
    kept = sums[3];
    this.input = input;
    this.transfer = transfer;
    this.places = places;
  }

  /**
   * The paper's chain.
   *
   * @param secondsOfCut of one transfer between neighbours; none at all where transfers are free
   */
  public static LayerChain of(List<StageLoad> layers, double... secondsOfCut) {
    int count = layers.size();
    Check.that(count >= 1, "a chain has layers: layers=%d", count);
    Check.that(
        secondsOfCut.length == 0 || secondsOfCut.length == count - 1,
        "one cut between neighbours: cuts=%d, layers=%d",
        secondsOfCut.length,
        count);
    double[][] sums = new double[4][count + 1];
    double[] transfer = new double[count + 1];
    int[] places = new int[count + 1];
    for (int layer = 0; layer < count; layer++) {
      StageLoad load = layers.get(layer);
      sums[0][layer + 1] = sums[0][layer] + load.forwardSeconds();
      sums[1][layer + 1] = sums[1][layer] + load.backwardSeconds();
      sums[2][layer + 1] = sums[2][layer] + load.stateBytes();
      sums[3][layer + 1] = sums[3][layer] + load.activationBytes();
      places[layer + 1] = layer + 1;
      if (layer > 0 && secondsOfCut.length > 0) {
        transfer[layer] = Check.amount(secondsOfCut[layer - 1], "seconds of a cut");
      }
    }
    return new LayerChain(sums, new double[count + 1], transfer, places, CopyBytes.NONE);
  }

  /**
   * A network on a cluster: whatever device is the slowest computes, whatever link is the slowest
   * transfers, since any stage may meet them. Where the network branches, it is cut only where one
   * way through it can be. Each batch ends with an update of the weights, which the device makes
   * right after the backward pass: it is part of that here.
   *
   * @param samples of a batch
   */
  public static LayerChain of(StageCosts all, int samples) {
    StageCosts costs = CoarseCuts.onePath(all);
    Cluster cluster = costs.workload().cluster();
    double slowdown = 0;
    for (int device = 0; device < cluster.size(); device++) {
      slowdown = Math.max(slowdown, costs.slowdown(device));
    }
    int last = costs.size();
    double[][] sums = new double[4][last + 1];
    double[] input = new double[last + 1];
    double[] transfer = new double[last + 1];
    int[] places = new int[last + 1];
    for (int i = 0; i <= last; i++) {
      sums[0][i] = costs.forwardSeconds(samples)[i] * slowdown;
      double update = costs.updateSeconds()[i];
      sums[1][i] = (costs.backwardSeconds(samples)[i] + update) * slowdown;
      sums[2][i] = costs.staticBytes(i);
      sums[3][i] = costs.heldBytes(0, i, samples) - costs.inputBytes(0, samples);
      input[i] = costs.inputBytes(i, samples);
      if (0 < i && i < last && cluster.size() > 1) {
        SplitConcat link =
            SplitConcat.between(cluster, new int[] {0}, new int[] {cluster.size() - 1});
        transfer[i] = link.seconds(input[i]);
      }
      places[i] = costs.inChain(i);
      for (double[] sum : sums) { // branches are summed in another order, so rounding may lower one
        sum[i] = i == 0 ? sum[i] : Math.max(sum[i - 1], sum[i]);
      }
    }
    return new LayerChain(sums, input, transfer, places, costs::copyBytes);
  }

  /**
   * The same chain, cut only at some places: layers of the result are runs of this one's.
   *
   * @param ends of layers, ascending, from 0 to their number
   */
  LayerChain cutOnlyAt(int[] ends) {
    double[][] all = {forward, backward, state, kept, input, transfer};
    double[][] picked = new double[all.length][ends.length];
    int[] there = new int[ends.length];
    for (int i = 0; i < ends.length; i++) {
      for (int k = 0; k < all.length; k++) {
        picked[k][i] = all[k][ends[i]];
      }
      there[i] = places[ends[i]];
    }
    double[][] sums = {picked[0], picked[1], picked[2], picked[3]};
    return new LayerChain(sums, picked[4], picked[5], there, copies);
  }

  /**
   * Ends of at most so many runs of layers of about equal work, each where transfers take least
   * thereabouts; all ends where there are no more.
   */
  int[] blocks(int most) {
    int layers = layers();
    int[] ends = new int[Math.min(layers, most) + 1];
    if (layers <= most) {
      Arrays.setAll(ends, end -> end);
      return ends;
    }
    double block = seconds(0, layers) / most;
    int count = 1;
    int end = 1;
    for (int run = 1; run < most; run++) {
      int best = -1;
      for (; end < layers && seconds(0, end) < (run + 0.5) * block; end++) {
        if (best < 0 || cutSeconds(end) <= cutSeconds(best)) {
          best = end;
        }
      }
      if (best > 0) {
        ends[count++] = best;
      }
    }
    ends[count++] = layers;
    return Arrays.copyOf(ends, count);
  }

  /** How many layers there are. */
  public int layers() {
    return forward.length - 1;
  }

  /** Where in the network's chain the layer {@code first} begins, or the end {@code first} lies. */
  public int inNetwork(int first) {
    return places[first];
  }

  /** What a batch costs a stage. */
  public StageLoad stage(int first, int end) {
    return new StageLoad(
        forward[end] - forward[first],
        backward[end] - backward[first],
        stateBytes(first, end),
        activationBytes(first, end));
  }

  /** What a batch costs a stage of which some layers run again. */
  public StageLoad stage(int first, int end, Choice fewer) {
    return new StageLoad(
        forward[end] - forward[first],
        (backward[end] - backward[first]) + fewer.extraSeconds(),
        stateBytes(first, end) + fewer.workingBytes(),
        fewer.heldBytes());
  }

  /**
   * What given runs of layers that run again mean for a stage.
   *
   * @param again in order
   */
  Choice given(int first, int end, List<LayerRange> again) {
    double[][] figures = new double[3][end - first];
    for (int i = 0; i < end - first; i++) {
      figures[0][i] = forward[first + i + 1] - forward[first + i];
      figures[1][i] = keptBytes(first + i);
      figures[2][i] = input[first + i];
    }
    List<LayerRange> fromZero =
        again.stream().map(run -> new LayerRange(run.first() - first, run.last() - first)).toList();
    LayerCosts layers = new LayerCosts(figures[0], figures[0], figures[1], figures[2]);
    PartlyKept means = PartlyKept.of(layers, fromZero);
    return new Choice(again, means.extraSeconds(), means.heldBytes(), means.workingBytes());
  }

  /** The sum that {@link StageLoad#seconds} gives for such a stage. */
  double seconds(int first, int end, double extra) {
    return (forward[end] - forward[first]) + ((backward[end] - backward[first]) + extra);
  }

  /** What stages cost with up to so much memory: made anew where another was asked for last. */
  TradeOffs tradeOffs(double bytes, Recomputation recomputation) {
    if (tradeOffs == null || bytes != tradeOffBytes || recomputation != tradeOffKind) {
      tradeOffs = new TradeOffs(forward, kept, input, bytes, recomputation);
      tradeOffBytes = bytes;
      tradeOffKind = recomputation;
    }
    return tradeOffs;
  }

  /** What stages hold at least, however long that takes. */
  TradeOffs sizes(Recomputation recomputation) {
    double[] noSeconds = new double[layers() + 1];
    return new TradeOffs(noSeconds, kept, input, Double.POSITIVE_INFINITY, recomputation);
  }

  /** Both passes: U of the paper; the sum that {@link StageLoad#seconds} gives. */
  double seconds(int first, int end) {
    return (forward[end] - forward[first]) + (backward[end] - backward[first]);
  }

  /** The same where all of its layers run again, or none. */
  double seconds(int first, int end, boolean again) {
    double kept = seconds(first, end);
    return again ? kept + (forward[end] - forward[first]) : kept;
  }

  /** Bytes of a stage with so many batches of which it keeps the inputs alone, or all. */
  double bytes(int first, int end, int held, boolean inputs) {
    double batch = activationBytes(first, end);
    double all = inputs ? (held - 1) * input[first] + batch : held * batch;
    return stateBytes(first, end) + all;
  }

  double stateBytes(int first, int end) {
    return state[end] - state[first] + copies.of(places[first], places[end]);
  }

  /** Of one batch, from its forward to its backward pass. */
  double activationBytes(int first, int end) {
    return input[first] + (kept[end] - kept[first]);
  }

  /** The same without the copy of the input, which a layer within a stage does not hold. */
  double keptBytes(int layer) {
    return kept[layer + 1] - kept[layer];
  }

  /** One transfer through the cut before a layer. */
  double transferSeconds(int cut) {
    return transfer[cut];
  }

  /** The transfers of a batch there and back through the cut before a layer. */
  double cutSeconds(int cut) {
    return transfer[cut] + transfer[cut];
  }
}
