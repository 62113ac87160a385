package dev.pipewright.cost;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.MessageOverhead;
import java.util.function.IntBinaryOperator;

/**
 * Moving a boundary activation between stages of different replication: every sender holds an equal
 * slice of the micro-batch, every receiver wants one (DAPPLE §V-B2, figure 9).
 *
 * <p>Samples are interchangeable, so slices are matched as close to home as possible: inside a
 * machine first, then inside the next group, and so on. The time is that of the busiest port.
 * Inside a machine a port belongs to a device; a machine (and every larger group) has one port to
 * the outside, its network card. Both directions of a port work at once.
 *
 * <p>Built in O(machines between the first and the last device · levels), answers in O(1).
 */
public record SplitConcat(double latencySeconds, double secondsPerByte) {

  /** From one set of devices to another; the sets are disjoint. */
  public static SplitConcat between(Cluster cluster, int[] from, int[] to) {
    int first = Math.min(machine(cluster, from, Math::min), machine(cluster, to, Math::min));
    int last = Math.max(machine(cluster, from, Math::max), machine(cluster, to, Math::max));
    double[] out = counts(cluster, from, first, last);
    double[] in = counts(cluster, to, first, last);
    double latency = 0;
    double perByte = 0;
    Level inside = cluster.levels().get(0);
    for (int machine = 0; machine < out.length; machine++) {
      double senders = out[machine];
      double receivers = in[machine];
      out[machine] = senders / from.length;
      in[machine] = receivers / to.length;
      double local = Math.min(out[machine], in[machine]);
      if (local > 0) {
        double port = local / Math.min(senders, receivers);
        perByte = Math.max(perByte, port / inside.pointToPoint().bandwidth().value());
        latency = Math.max(latency, inside.pointToPoint().latency().value());
      }
    }
    settle(out, in);
    for (int level = 1; level < cluster.levels().size(); level++) {
      Level joining = cluster.levels().get(level);
      double busiest = 0;
      for (int member = 0; member < out.length; member++) {
        busiest = Math.max(busiest, Math.max(out[member], in[member]));
      }
      if (busiest > 0) {
        perByte = Math.max(perByte, busiest / joining.pointToPoint().bandwidth().value());
        latency = Math.max(latency, joining.pointToPoint().latency().value());
      }
      out = joined(cluster, level, out, first);
      in = joined(cluster, level, in, first);
      first = cluster.group(level, cluster.firstDevice(level - 1, first));
      settle(out, in);
    }
    return new SplitConcat(latency, perByte);
  }

  /**
   * The same without what both ends' computing pays for ({@link MessageOverhead}), where that
   * counts with the stages' passes ({@link StageCosts#messageSeconds}).
   */
  public static SplitConcat betweenPasses(Cluster cluster, int[] from, int[] to) {
    MessageOverhead each = cluster.software().message();
    SplitConcat whole = between(cluster, from, to);
    double ends = each.secondsPerByte() / from.length + each.secondsPerByte() / to.length;
    return new SplitConcat(
        Math.max(0, whole.latencySeconds - 2 * each.seconds()),
        Math.max(0, whole.secondsPerByte - ends));
  }

  private static int machine(Cluster cluster, int[] devices, IntBinaryOperator choice) {
    int chosen = cluster.machine(devices[0]);
    for (int device : devices) {
      chosen = choice.applyAsInt(chosen, cluster.machine(device));
    }
    return chosen;
  }

  private static double[] counts(Cluster cluster, int[] devices, int first, int last) {
    double[] counts = new double[last - first + 1];
    for (int device : devices) {
      counts[cluster.machine(device) - first]++;
    }
    return counts;
  }

  /** What a group sends to itself needs no port of the group. */
  private static void settle(double[] out, double[] in) {
    for (int group = 0; group < out.length; group++) {
      double local = Math.min(out[group], in[group]);
      out[group] = leftover(out[group], local);
      in[group] = leftover(in[group], local);
    }
  }

  /** The difference of two shares of a micro-batch, without the dust of rounding. */
  private static double leftover(double share, double local) {
    double rest = share - local;
    return rest < 1e-12 ? 0 : rest;
  }

  /** Shares of the groups of {@code level} from those of the level below, from its group first. */
  private static double[] joined(Cluster cluster, int level, double[] shares, int first) {
    int offset = cluster.group(level, cluster.firstDevice(level - 1, first));
    int last = cluster.group(level, cluster.firstDevice(level - 1, first + shares.length - 1));
    double[] sums = new double[last - offset + 1];
    for (int member = 0; member < shares.length; member++) {
      int group = cluster.group(level, cluster.firstDevice(level - 1, first + member));
      sums[group - offset] += shares[member];
    }
    return sums;
  }

  /** Seconds for a boundary activation of {@code bytes} (all slices together). */
  public double seconds(double bytes) {
    return bytes == 0 ? 0 : latencySeconds + bytes * secondsPerByte;
  }
}
