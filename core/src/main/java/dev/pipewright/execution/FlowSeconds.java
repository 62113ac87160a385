package dev.pipewright.execution;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Collectives;
import dev.pipewright.cost.Workload;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Flow;
import dev.pipewright.plan.HandOns;
import dev.pipewright.plan.TiedStages;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * What steps that flow into one another add to the seconds of a stage, beside its passes: sums of
 * gradients that lie in memory of their own, versions of parameters, and what goes from turn to
 * turn.
 */
final class FlowSeconds {
  /** Times that an update's gradients go through memory: cleared; read, added to and written. */
  private static final double SUM_TRAFFIC = 4;

  /** Times that the parameters do where an older version is kept: they are copied. */
  private static final double COPY_TRAFFIC = 2;

  /** Times that a sum does that comes from another worker: it is added to one's own. */
  private static final double ARRIVAL_TRAFFIC = 3;

  /** Who hands on nothing says so with a number. */
  private static final double SIGN_BYTES = 4;

  /** Times that a table's gradients do that go to another stage: copied; theirs added, learnt. */
  private static final double TIED_TRAFFIC = 5;

  private final Assignment all; // over enough steps to be typical
  private final Flow flow;
  private final Cluster cluster;
  private final IntUnaryOperator device; // of each worker

  FlowSeconds(Assignment all, Cluster cluster, IntUnaryOperator device) {
    this.all = all;
    this.flow = all.flow().orElseThrow();
    this.cluster = cluster;
    this.device = device;
  }

  /**
   * What an update takes beside that of a step that ends.
   *
   * @param bytes of the stage's parameters
   */
  double update(int depth, double bytes) {
    double copies = flow.versions(depth) > 1 ? COPY_TRAFFIC : 0;
    return (SUM_TRAFFIC + copies) * bytes / rate(depth);
  }

  /** The slowest memory's, of those who hold a stage. */
  private double rate(int depth) {
    double rate = Double.POSITIVE_INFINITY;
    for (int worker : all.holders(depth)) {
      int own = device.applyAsInt(worker);
      rate = Math.min(rate, cluster.device(own).memoryBandwidth().value());
    }
    return rate;
  }

  /** What an update takes where it exchanges gradients of tables with another stage. */
  double tied(int depth, Workload workload) {
    double seconds = 0;
    for (TiedStages stages : TiedStages.of(all, workload.chain())) {
      if (depth == stages.first() || depth == stages.second()) {
        double bytes = stages.table().numbers() * (double) workload.profile().precision().bytes();
        List<Integer> pair = stages.pair(all.holders(depth).get(0));
        int from = device.applyAsInt(pair.get(0));
        int to = device.applyAsInt(pair.get(1));
        double message = stages.together() ? 0 : message(cluster, from, to, bytes);
        seconds += TIED_TRAFFIC * bytes / rate(depth);
        seconds += (1 - cluster.software().overlap()) * message;
      }
    }
    return seconds;
  }

  /** What it takes on average until a turn has what the one before it hands on. */
  double handOn(int depth, double bytes) {
    HandOns handOns = HandOns.of(all, depth);
    double seconds = 0;
    int count = 0;
    for (int turn = 1; turn < handOns.size(); turn++) {
      if (handOns.comes(turn)) {
        int to = device.applyAsInt(all.firstWorker(handOns.turn(turn).rank()));
        double rate = cluster.device(to).memoryBandwidth().value();
        int sums = handOns.carried(turn).size();
        seconds += message(handOns, turn, bytes);
        seconds += sums * ARRIVAL_TRAFFIC * bytes / rate;
        count++;
      }
    }
    return count == 0 ? 0 : seconds / count;
  }

  /** What handing on takes on average from the passes of the one who does it. */
  double handingOn(int depth, double bytes) {
    HandOns handOns = HandOns.of(all, depth);
    double beside =
        IntStream.range(1, handOns.size())
            .filter(handOns::comes)
            .mapToDouble(turn -> message(handOns, turn, bytes))
            .average()
            .orElse(0);
    return (1 - cluster.software().overlap()) * beside;
  }

  /** From the turn before. */
  private double message(HandOns handOns, int turn, double bytes) {
    int from = device.applyAsInt(all.firstWorker(handOns.turn(turn - 1).rank()));
    int to = device.applyAsInt(all.firstWorker(handOns.turn(turn).rank()));
    int sums = handOns.carried(turn).size();
    return message(cluster, from, to, sums == 0 ? SIGN_BYTES : sums * bytes);
  }

  static double message(Cluster cluster, int from, int to, double bytes) {
    int[] both = from < to ? new int[] {from, to} : new int[] {to, from};
    return Collectives.achieved(cluster, both).pointToPoint(bytes);
  }
}
