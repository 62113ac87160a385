package dev.pipewright.planner;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.MessageOverhead;
import dev.pipewright.cost.Collectives;
import dev.pipewright.cost.StageCosts;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** What a stage on so many devices, and a transfer between so many, takes at least, wherever. */
final class LeastTimes {
  private final StageCosts costs;
  private final Cluster cluster;
  private final int globalBatch;
  private final double[] slowdown; // of devices, ascending
  private final double[] rate; // of so many devices together, in devices of the profile's kind
  private final double capacity; // bytes of the largest device
  private final @Nullable Collectives[] groups; // by devices
  private final int pairs; // of devices that share a machine
  private final double latency;
  private final double insideRate; // bytes per second of a device's port
  private final double outsideRate; // and of a machine's

  LeastTimes(StageCosts costs, int globalBatch) {
    this.costs = costs;
    this.cluster = costs.workload().cluster();
    this.globalBatch = globalBatch;
    this.slowdown = new double[cluster.size()];
    Arrays.setAll(slowdown, costs::slowdown);
    Arrays.sort(slowdown);
    this.rate = new double[cluster.size() + 1];
    for (int device = 0; device < cluster.size(); device++) {
      rate[device + 1] = rate[device] + 1 / slowdown[device];
    }
    this.capacity = cluster.mostMemory().value();
    this.groups = new @Nullable Collectives[cluster.size() + 1];
    this.pairs = cluster.groups().get(0).stream().mapToInt(size -> size / 2).sum();
    this.latency =
        cluster.levels().stream()
            .mapToDouble(level -> level.pointToPoint().latency().value())
            .min()
            .orElseThrow();
    this.insideRate = bytesPerSecond(cluster.levels().get(0));
    this.outsideRate =
        cluster.levels().stream().skip(1).mapToDouble(LeastTimes::bytesPerSecond).max().orElse(0);
  }

  /** Of a link, over all ports. */
  static double bytesPerSecond(Level level) {
    return level.pointToPoint().bandwidth().value() * Math.max(1, level.ports());
  }

  double fastest() {
    return slowdown[0];
  }

  /** The slowdown of the slowest of so many devices. */
  double slowdown(int devices) {
    return slowdown[devices - 1];
  }

  /** How many devices of the profile's kind so many can stand for. */
  double rate(int devices) {
    return rate[devices];
  }

  /** Whether devices that share a stage can hold its weights, gradients and optimizer state. */
  boolean fits(int first, int end) {
    return fits(first, end, 1);
  }

  /** Whether that many stages can. */
  boolean fits(int first, int end, int stages) {
    return costs.staticBytes(first, end) <= capacity * stages;
  }

  /**
   * What a stage takes by itself: all its passes, the gradients that its last backward pass cannot
   * hide, its update.
   *
   * @param limit beyond it gradients are left out
   */
  double alone(int microBatching, int first, int end, int devices, double limit) {
    int slice = StageCosts.slice(microBatching, devices);
    double slow = slowdown(devices);
    double[] forward = costs.forwardSeconds(slice);
    double[] backward = costs.backwardSeconds(slice);
    double back = (backward[end] - backward[first]) * slow;
    int microBatches = globalBatch / microBatching;
    double passes = microBatches * ((forward[end] - forward[first]) * slow + back);
    double update = (costs.updateSeconds()[end] - costs.updateSeconds()[first]) * slow;
    if (passes + update >= limit) {
      return passes + update;
    }
    double bytes = costs.gradientBytes()[end] - costs.gradientBytes()[first];
    return passes + update + Math.max(0, group(devices).allReduce(bytes) - back);
  }

  private Collectives group(int devices) {
    Collectives known = groups[devices];
    if (known == null) {
      known = Collectives.atBest(cluster, devices);
      groups[devices] = known;
    }
    return known;
  }

  /**
   * One way, for a micro-batch over a cut: every device and machine that sends or receives uses all
   * its ports, and a message takes as much as it may from the computing of one sender and one
   * receiver.
   */
  double transfer(int cut, int microBatching, int from, int to) {
    double bytes = costs.cutBytes()[cut] * microBatching;
    int fewer = Math.min(from, to);
    double together =
        Math.min(fewer, pairs) * insideRate + Math.min(fewer, cluster.machines()) * outsideRate;
    MessageOverhead ends = cluster.software().message();
    double alone = Math.max(0, latency - 2 * ends.seconds());
    double perByte = Math.max(0, 1 / together - 2 * ends.secondsPerByte());
    return bytes == 0 ? 0 : alone + bytes * perByte;
  }
}
