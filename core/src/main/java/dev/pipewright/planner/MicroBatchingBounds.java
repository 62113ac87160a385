package dev.pipewright.planner;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The bounds that the pricers of one micro-batch size share, under the tightest limit asked for.
 */
final class MicroBatchingBounds implements PrefixBound.Prices {
  /** Tables are made anew when the limit has come down by this factor. */
  private static final double WORTH_NEW_TABLES = 0.99;

  private final StageCosts costs;
  private final MicroBatching microBatching;
  private final PlacementSpace space;
  private final double fastest;
  private final double[] even;
  private final double capacity; // bytes of the largest device
  private final Recomputation recomputation;
  private final @Nullable SelectiveRecomputation selective;
  private final int[] earliest; // first position of a stage whose states fit, by its end
  private final int[] inFlight; // micro-batches of a stage at least, likewise
  private PrefixBound tables;
  private double limit = Double.NaN; // that the tables were made for

  /**
   * Of a micro-batch size.
   *
   * @param selective of the same positions; null where stages recompute all their layers or none
   * @param policies of the pricers; none where a stage may hold fewer micro-batches than wanted
   */
  MicroBatchingBounds(
      StageCosts costs,
      MicroBatching microBatching,
      PlacementSpace space,
      Recomputation recomputation,
      @Nullable SelectiveRecomputation selective,
      List<PipelinePolicy> policies) {
    this.recomputation = recomputation;
    this.selective = selective;
    this.capacity = (double) costs.workload().cluster().mostMemory().value();
    this.costs = costs;
    this.microBatching = microBatching;
    this.space = space;
    this.fastest = costs.fastest();
    this.even = costs.cheapestSecondsPerSample(microBatching.samples());
    for (int i = 0; i < even.length; i++) {
      even[i] *= microBatching.samples() * fastest;
    }
    this.earliest = new int[costs.size() + 1];
    for (int end = 1; costs.total() && end <= costs.size(); end++) {
      earliest[end] = longest(end);
    }
    this.inFlight = new int[costs.size() + 1];
    for (int end = costs.size(), stages = 0; end > 0; end = earliest[end], stages++) {
      int behind = stages;
      int held =
          policies.stream()
              .mapToInt(policy -> policy.inFlightOf(behind, microBatching.microBatches()))
              .min()
              .orElse(1);
      Arrays.fill(inFlight, earliest[end] + 1, end + 1, held);
    }
    this.tables = evenly();
  }

  private int longest(int end) {
    int first = end - 1;
    while (first > 0 && costs.staticBytes(first - 1, end) <= capacity) {
      first--;
    }
    return first;
  }

  /** Bounds that cost nothing to make. */
  PrefixBound evenly() {
    return PrefixBound.evenly(even, space.grain());
  }

  /** Bounds for plans whose step is no longer than {@code limit}. */
  PrefixBound within(double wanted) {
    boolean usable = limit >= wanted && limit * WORTH_NEW_TABLES <= wanted;
    if (!usable) {
      tables = PrefixBound.of(costs, even, space.grain(), space.counts(), this, wanted);
      limit = wanted;
    }
    return tables;
  }

  @Override
  public double[] seconds(int devices) {
    int slice = StageCosts.slice(microBatching.samples(), devices);
    double[] forward = costs.forwardSeconds(slice);
    double[] backward = costs.backwardSeconds(slice);
    double[] both = new double[forward.length];
    for (int i = 0; i < both.length; i++) {
      both[i] = (forward[i] + backward[i]) * fastest;
    }
    return both;
  }

  @Override
  public int earliest(int end) {
    return earliest[end];
  }

  @Override
  public double again(int first, int end, int devices) {
    int slice = StageCosts.slice(microBatching.samples(), devices);
    double room = capacity - costs.staticBytes(first, end) - costs.workingBytes(slice);
    int held = inFlight[end];
    if (held * costs.inputBytes(first, slice) > room) {
      return Double.POSITIVE_INFINITY;
    }
    if (!recomputation.always() && held * costs.heldBytes(first, end, slice) <= room) {
      return 0;
    }
    if (recomputation == Recomputation.NEVER) {
      return Double.POSITIVE_INFINITY;
    }
    if (selective != null) {
      return selective.tradeOffs(slice).atLeast(first, end, held, room) * fastest;
    }
    double[] forward = costs.forwardSeconds(slice);
    return (forward[end] - forward[first]) * fastest;
  }

  @Override
  public boolean allows(int devices) {
    return devices <= microBatching.samples();
  }

  @Override
  public boolean sums() {
    return true;
  }

  @Override
  public int repeats() {
    return microBatching.microBatches();
  }
}
