package dev.pipewright.planner.memory;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Collectives;
import dev.pipewright.cost.ExchangeSeconds;
import dev.pipewright.cost.LayerCosts;
import dev.pipewright.cost.PartTimes;
import dev.pipewright.cost.PartlyKept;
import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.ShardedProfile;
import dev.pipewright.cost.SplitConcat;
import dev.pipewright.cost.StageCosts;
import dev.pipewright.cost.Workload;
import dev.pipewright.exchange.GroupExchange;
import dev.pipewright.exchange.GroupExchanges;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.ParallelismLimits;
import dev.pipewright.planner.recompute.EveryChoice;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.schedule.PipelinePolicy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * The referee of {@link Capture}: every cut of a chain, every way to share every stage, each priced
 * from its layers without prefix sums or tables, no bound and no partial result.
 */
final class EveryHybridPlan {
  private final StageCosts costs;
  private final Workload workload;
  private final Cluster cluster;
  private final PipelinePolicy policy;
  private final int microBatches;
  private final int samples;
  private final Recomputation recomputation;
  private final List<Degrees> degrees;
  private final List<Priced> found = new ArrayList<>();
  private final ParallelismLimits limits;
  private final Map<Integer, Profile> profiles = new HashMap<>(); // of a part, by tensor degree

  /** A stage by its layers and the way it is shared. */
  record Piece(int first, int end, Degrees degrees, List<LayerRange> again) {}

  record Priced(List<Piece> pieces, double peak, double seconds) {}

  private EveryHybridPlan(
      StageCosts costs,
      PipelinePolicy policy,
      int microBatches,
      int samples,
      int mostTensor,
      Recomputation recomputation) {
    this.recomputation = recomputation;
    this.costs = costs;
    this.workload = costs.workload();
    this.cluster = workload.cluster();
    this.policy = policy;
    this.microBatches = microBatches;
    this.samples = samples;
    this.degrees = new ArrayList<>();
    this.limits = new ParallelismLimits(workload.chain().graph());
    for (int data = 1; data <= Math.min(samples, cluster.size()); data++) {
      for (int tensor = 1; tensor <= mostTensor; tensor++) {
        if (Integer.bitCount(tensor) == 1
            && data * tensor <= cluster.size()
            && limits.refusal(limits.tensorParallel(tensor)).isEmpty()) {
          degrees.add(new Degrees(data, tensor));
        }
      }
    }
  }

  static List<Priced> of(
      StageCosts costs, PipelinePolicy policy, int batch, int samples, int mostTensor) {
    return of(costs, policy, batch, samples, mostTensor, Recomputation.NEVER);
  }

  static List<Priced> of(
      StageCosts costs,
      PipelinePolicy policy,
      int batch,
      int samples,
      int mostTensor,
      Recomputation recomputation) {
    EveryHybridPlan every =
        new EveryHybridPlan(costs, policy, batch / samples, samples, mostTensor, recomputation);
    every.extend(new ArrayList<>(), 0, 0);
    return every.found;
  }

  private void extend(List<Piece> pieces, int first, int used) {
    if (first == costs.size()) {
      if (used == cluster.size()) {
        found.add(priced(List.copyOf(pieces)));
      }
      return;
    }
    for (int end = first + 1; end <= costs.size(); end++) {
      for (Degrees own : degrees) {
        if (used + own.devices() <= cluster.size()) {
          for (List<LayerRange> again : choices(end - first)) {
            pieces.add(new Piece(first, end, own, again));
            extend(pieces, end, used + own.devices());
            pieces.remove(pieces.size() - 1);
          }
        }
      }
    }
  }

  private List<List<LayerRange>> choices(int layers) {
    return switch (recomputation) {
      case NEVER -> List.of(List.of());
      case ALWAYS -> List.of(List.of(new LayerRange(0, layers - 1)));
      default -> {
        List<List<LayerRange>> all = new ArrayList<>();
        EveryChoice.of(layers, again -> all.add(List.copyOf(again)));
        yield all;
      }
    };
  }

  private Priced priced(List<Piece> pieces) {
    PathFormula formula = new PathFormula();
    double[] label = new double[formula.width()];
    double peak = 0;
    int after = cluster.size();
    for (int s = pieces.size() - 1; s >= 0; s--) {
      Piece piece = pieces.get(s);
      int firstDevice = after - piece.degrees.devices();
      int inFlight = policy.inFlightOf(pieces.size() - 1 - s, microBatches);
      if (s < pieces.size() - 1) {
        Piece next = pieces.get(s + 1);
        double there = transfer(piece, firstDevice, next, after, next, after);
        double back = transfer(next, after, piece, firstDevice, piece, firstDevice);
        formula.transfer(label, 0, there, back, microBatches, 0);
      }
      double forward = 0;
      double backward = 0;
      double gradients = 0;
      double update = 0;
      double fixed = 0;
      double[][] figures = new double[4][piece.end - piece.first];
      for (int layer = piece.first; layer < piece.end; layer++) {
        Profile part = part(piece.degrees.tensor());
        Profile.LayerSizes sizes = part.sizes(layer);
        gradients += sizes.parameters();
        fixed += sizes.parameters() / 4 * 16; // Adam in 32 bits
        double own = seconds(layer, piece.degrees, firstDevice, Quantity.FORWARD);
        figures[0][layer - piece.first] = own;
        figures[2][layer - piece.first] = sizes.kept() * slice(piece.degrees);
        figures[3][layer - piece.first] = costs.cutBytes()[layer] * slice(piece.degrees);
        forward += own;
        backward += seconds(layer, piece.degrees, firstDevice, Quantity.BACKWARD);
        update += part.seconds(Quantity.UPDATE, 1)[layer] * slowdown(piece.degrees, firstDevice);
      }
      double reduce = group(piece.degrees, firstDevice, false).allReduce(gradients);
      PartlyKept kept =
          PartlyKept.of(
              new LayerCosts(figures[0], figures[1], figures[2], figures[3]), piece.again);
      peak = Math.max(peak, fixed + kept.peakBytes(inFlight));
      double messages = costs.messageSeconds(piece.first, piece.end, slice(piece.degrees));
      forward += messages;
      backward += kept.extraSeconds() + messages;
      formula.stage(label, 0, forward, backward, reduce + update, microBatches, inFlight, 0);
      after = firstDevice;
    }
    return new Priced(pieces, peak, formula.seconds(label, 0));
  }

  private int slice(Degrees degrees) {
    return (samples + degrees.data() - 1) / degrees.data();
  }

  private double slowdown(Degrees degrees, int firstDevice) {
    return IntStream.range(firstDevice, firstDevice + degrees.devices())
        .mapToDouble(costs::slowdown)
        .max()
        .orElseThrow();
  }

  /** What a device of a tensor group has of the layers. */
  private Profile part(int tensor) {
    return profiles.computeIfAbsent(
        tensor,
        degree -> ShardedProfile.of(workload, limits.tensorParallel(degree), false).profile());
  }

  private double seconds(int layer, Degrees degrees, int firstDevice, Quantity quantity) {
    double seconds = part(degrees.tensor()).seconds(quantity, slice(degrees))[layer];
    LayerRange all = new LayerRange(0, costs.size() - 1);
    Parallelism split = limits.tensorParallel(degrees.tensor());
    ExchangeSeconds each =
        new ExchangeSeconds(
            new PartTimes(workload),
            group(degrees, firstDevice, true),
            Collectives.NONE,
            workload.profile().precision(),
            split);
    double exchanged = 0;
    for (GroupExchange exchange : GroupExchanges.of(workload.chain(), all, split, false)) {
      if (exchange.layer() == layer && exchange.forward() == (quantity == Quantity.FORWARD)) {
        exchanged += each.of(exchange, slice(degrees));
      }
    }
    return seconds * slowdown(degrees, firstDevice) + exchanged;
  }

  /** Over the tensor groups, or over the devices that have the same part. */
  private Collectives group(Degrees degrees, int firstDevice, boolean tensor) {
    int[][] groups = tensor ? new int[degrees.data()][] : new int[degrees.tensor()][];
    for (int g = 0; g < groups.length; g++) {
      int from = firstDevice + (tensor ? g * degrees.tensor() : g);
      int by = tensor ? 1 : degrees.tensor();
      groups[g] =
          IntStream.range(0, tensor ? degrees.tensor() : degrees.data())
              .map(i -> from + i * by)
              .toArray();
    }
    return Collectives.achieved(cluster, groups);
  }

  private double transfer(
      Piece from, int fromDevice, Piece to, int toDevice, Piece gathering, int gatheringDevice) {
    double bytes = costs.cutBytes()[Math.max(from.first, to.first)];
    int[] senders = IntStream.range(fromDevice, fromDevice + from.degrees.devices()).toArray();
    int[] receivers = IntStream.range(toDevice, toDevice + to.degrees.devices()).toArray();
    return SplitConcat.betweenPasses(cluster, senders, receivers).seconds(bytes * samples)
        + group(gathering.degrees, gatheringDevice, true)
            .allGather(bytes * slice(gathering.degrees));
  }
}
