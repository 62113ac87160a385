package dev.pipewright.predict.run;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.exchange.OwnershipSchedule;
import dev.pipewright.plan.Assignment;
import dev.pipewright.schedule.Op.Pass;
import java.util.function.IntPredicate;
import java.util.function.IntToDoubleFunction;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * Seconds that migrating states add to a stage's ops: the messages, the one gradient sum that all
 * workers add to, and the older version that an update leaves.
 */
final class MigrationSeconds {
  /** Times that the sum goes through memory for a pass: it is read, added to and written. */
  private static final double ADDING_TRAFFIC = 3;

  /** The same for the first pass that adds to it: it is cleared. */
  private static final double CLEARING_TRAFFIC = 1;

  /** Times that the parameters do where an update leaves an older version: they are copied. */
  private static final double COPY_TRAFFIC = 2;

  private final Assignment all;
  private final OwnershipSchedule way;
  private final double parameters; // bytes
  private final double always; // bytes that go along each time
  private final Cluster cluster;
  private final IntUnaryOperator device; // of each worker

  /**
   * Of a stage of a chain.
   *
   * @param all steps enough to be typical
   * @param parameters bytes of them
   * @param remembered bytes of what the update rule remembers
   */
  MigrationSeconds(
      Assignment all,
      int depth,
      double parameters,
      double remembered,
      Cluster cluster,
      IntUnaryOperator device) {
    this.all = all;
    this.way = OwnershipSchedule.of(all, depth);
    this.parameters = parameters;
    this.always = parameters + remembered;
    this.cluster = cluster;
    this.device = device;
  }

  /** What all messages to a rank take on average when the states come to it. */
  double gradientPass(int rank) {
    return average(rank, way::comes, this::message);
  }

  private double message(int stop) {
    int from = device.applyAsInt(way.worker(stop - 1));
    int to = device.applyAsInt(way.worker(stop));
    return AsyncSeconds.message(cluster, from, to, always + way.extra(stop) * parameters);
  }

  /** What it takes on average from a rank's passes of a kind that the states then leave it. */
  double handingOn(int rank, Pass pass) {
    double beside =
        average(
            rank,
            stop -> way.stop(stop).pass() == pass,
            stop -> way.comes(stop + 1) ? message(stop + 1) : 0);
    return (1 - cluster.software().overlap()) * beside;
  }

  /** What a backward pass of a rank takes beside one that leaves gradients where none are. */
  double backward(int rank) {
    return average(
        rank,
        stop -> way.stop(stop).pass() == Pass.BACKWARD,
        stop -> traffic(rank, ADDING_TRAFFIC + (way.sum(stop) ? 0 : CLEARING_TRAFFIC)));
  }

  /** What an update of a rank takes beside one that leaves no older version. */
  double update(int rank) {
    return average(
        rank,
        stop -> way.stop(stop).pass() == Pass.UPDATE,
        stop -> way.older(stop + 1) ? traffic(rank, COPY_TRAFFIC) : 0);
  }

  private double traffic(int rank, double times) {
    int own = device.applyAsInt(all.firstWorker(rank));
    return times * parameters / cluster.device(own).memoryBandwidth().value();
  }

  /** Over a rank's stops of a kind in a step in the middle; 0 where there are none. */
  private double average(int rank, IntPredicate kind, IntToDoubleFunction seconds) {
    int begin = way.size() / 2;
    return IntStream.range(begin, begin + way.size() / all.steps())
        .filter(stop -> way.stop(stop).rank() == rank && kind.test(stop))
        .mapToDouble(seconds)
        .average()
        .orElse(0);
  }
}
