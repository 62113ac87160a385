package dev.pipewright.predict.run;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.Collectives;
import dev.pipewright.cost.Workload;
import dev.pipewright.exchange.GradientPasses;
import dev.pipewright.exchange.TiedStages;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * Seconds that an asynchronous pipeline adds to a stage in addition to its passes: gradient sums in
 * memory of their own, parameter versions, and gradient passes between workers.
 */
final class AsyncSeconds {
  /** Times that an update's gradients go through memory: cleared; read, added to and written. */
  private static final double SUM_TRAFFIC = 4;

  /** Times that what is copied does: an older version, gradients that go to another stage. */
  private static final double COPY_TRAFFIC = 2;

  /** Times that a sum does that comes from another worker: it is added to one's own. */
  private static final double ARRIVAL_TRAFFIC = 3;

  /** A rank that sends no gradient sum sends a number instead. */
  private static final double SIGN_BYTES = 4;

  private final Assignment all; // over enough steps to be typical
  private final AsyncPipeline asyncPipeline;
  private final Workload workload;
  private final IntUnaryOperator device; // of each worker

  AsyncSeconds(Assignment all, Workload workload, IntUnaryOperator device) {
    this.all = all;
    this.asyncPipeline = all.asyncPipeline().orElseThrow();
    this.workload = workload;
    this.device = device;
  }

  /**
   * What sums of gradients take on average from a backward pass.
   *
   * @param bytes of the stage's parameters
   */
  double summing(int depth, double bytes) {
    return updatesFor(Pass.BACKWARD, depth) * SUM_TRAFFIC * bytes / rate(depth);
  }

  /**
   * What an update takes: of parameters that no other stage has, with keeping an older version; and
   * to exchange the gradients of the others.
   *
   * @param bytes of the stage's parameters
   * @param updating seconds of an update of all of them where a step ends
   */
  double update(int depth, double bytes, double updating) {
    double whole = updating + keeping(depth, bytes);
    double seconds = whole;
    for (TiedStages each : tied(depth)) {
      seconds -= whole * bytes(each) / bytes;
      seconds += copying(depth, bytes(each)) + (1 - overlap()) * message(each, depth);
    }
    return seconds;
  }

  /**
   * What it takes on average from a forward pass to add up what both stages that have the same
   * table have handed on, and to learn it.
   *
   * @param bytes of the stage's parameters
   * @param updating seconds of an update of all of them where a step ends
   */
  double learning(int depth, double bytes, double updating) {
    double seconds = 0;
    for (TiedStages each : tied(depth)) {
      seconds += (updating + keeping(depth, bytes)) * bytes(each) / bytes;
      seconds += ARRIVAL_TRAFFIC * bytes(each) / rate(depth);
    }
    return seconds == 0 ? 0 : updatesFor(Pass.FORWARD, depth) * seconds;
  }

  /** From one stage of a table to the other. */
  private double message(TiedStages stages, int depth) {
    List<Integer> pair = stages.pair(all.holders(depth).get(0));
    int from = device.applyAsInt(pair.get(0));
    int to = device.applyAsInt(pair.get(1));
    return stages.together() ? 0 : message(cluster(), from, to, bytes(stages));
  }

  /** Tables of a stage that another stage has, too. */
  private List<TiedStages> tied(int depth) {
    return TiedStages.of(all, workload.chain()).stream()
        .filter(stages -> depth == stages.first() || depth == stages.second())
        .toList();
  }

  private double bytes(TiedStages stages) {
    return stages.table().numbers() * (double) workload.profile().precision().bytes();
  }

  private double keeping(int depth, double bytes) {
    return asyncPipeline.versions(depth) > 1 ? copying(depth, bytes) : 0;
  }

  private double copying(int depth, double bytes) {
    return COPY_TRAFFIC * bytes / rate(depth);
  }

  /** How many updates of a stage there are for a pass of it. */
  private double updatesFor(Pass pass, int depth) {
    return count(Pass.UPDATE, depth) / (double) count(pass, depth);
  }

  private long count(Pass pass, int depth) {
    Schedule schedule = all.schedule();
    return IntStream.range(0, schedule.ranks())
        .mapToObj(schedule::packed)
        .flatMapToLong(Arrays::stream)
        .filter(
            op -> Schedule.pass(op) == pass && Schedule.stage(op) % asyncPipeline.stages() == depth)
        .count();
  }

  private Cluster cluster() {
    return workload.cluster();
  }

  private double overlap() {
    return cluster().software().overlap();
  }

  /** The slowest memory's, of those who hold a stage. */
  private double rate(int depth) {
    double rate = Double.POSITIVE_INFINITY;
    for (int worker : all.holders(depth)) {
      int own = device.applyAsInt(worker);
      rate = Math.min(rate, cluster().device(own).memoryBandwidth().value());
    }
    return rate;
  }

  /** What it takes on average until a turn has what the one before it hands on. */
  double gradientPass(int depth, double bytes) {
    GradientPasses gradientPasses = GradientPasses.of(all, depth);
    double seconds = 0;
    int count = 0;
    for (int turn = 1; turn < gradientPasses.size(); turn++) {
      if (gradientPasses.comes(turn)) {
        int to = device.applyAsInt(all.firstWorker(gradientPasses.turn(turn).rank()));
        double rate = cluster().device(to).memoryBandwidth().value();
        int sums = gradientPasses.carried(turn).size();
        seconds += message(gradientPasses, turn, bytes);
        seconds += sums * ARRIVAL_TRAFFIC * bytes / rate;
        count++;
      }
    }
    return count == 0 ? 0 : seconds / count;
  }

  /** What handing on takes on average from the passes of the one who does it. */
  double handingOn(int depth, double bytes) {
    GradientPasses gradientPasses = GradientPasses.of(all, depth);
    double beside =
        IntStream.range(1, gradientPasses.size())
            .filter(gradientPasses::comes)
            .mapToDouble(turn -> message(gradientPasses, turn, bytes))
            .average()
            .orElse(0);
    return (1 - overlap()) * beside;
  }

  /** From the turn before. */
  private double message(GradientPasses gradientPasses, int turn, double bytes) {
    int from = device.applyAsInt(all.firstWorker(gradientPasses.turn(turn - 1).rank()));
    int to = device.applyAsInt(all.firstWorker(gradientPasses.turn(turn).rank()));
    int sums = gradientPasses.carried(turn).size();
    return message(cluster(), from, to, sums == 0 ? SIGN_BYTES : sums * bytes);
  }

  static double message(Cluster cluster, int from, int to, double bytes) {
    int[] both = from < to ? new int[] {from, to} : new int[] {to, from};
    return Collectives.achieved(cluster, both).pointToPoint(bytes);
  }
}
