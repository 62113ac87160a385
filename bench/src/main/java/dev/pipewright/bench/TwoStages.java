package dev.pipewright.bench;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.DappleRepoOracle;
import dev.pipewright.cost.StageCosts;
import java.util.ArrayList;
import java.util.List;

/**
 * All plans of two stages that the planner of DAPPLE's authors looks at, scored by its formula:
 * every cut, every division of the devices, every number of copies, the first stage's devices taken
 * machine by machine or from all machines alike.
 */
final class TwoStages {
  private final StageCosts costs;
  private final DappleRepoOracle oracle;
  private final int globalBatch;
  private final int microBatch;

  private TwoStages(StageCosts costs, int globalBatch, int microBatch) {
    this.costs = costs;
    this.oracle = new DappleRepoOracle(costs);
    this.globalBatch = globalBatch;
    this.microBatch = microBatch;
  }

  /** The best score among them; infinite when the batch allows none. */
  static double best(StageCosts costs, int globalBatch, int microBatch) {
    return new TwoStages(costs, globalBatch, microBatch).best();
  }

  private double best() {
    Cluster cluster = costs.workload().cluster();
    double best = Double.POSITIVE_INFINITY;
    for (int copies = 1; 2 * copies <= cluster.size(); copies++) {
      if (cluster.size() % copies == 0 && globalBatch % (copies * microBatch) == 0) {
        for (int first = copies; first < cluster.size(); first += copies) {
          for (int[] order : orders(cluster, first)) {
            best = Math.min(best, best(order, first, copies));
          }
        }
      }
    }
    return best;
  }

  /** Devices in the orders in which they may be dealt out. */
  private static List<int[]> orders(Cluster cluster, int first) {
    int devices = cluster.size();
    int machines = cluster.machines();
    int each = devices / machines;
    List<int[]> orders = new ArrayList<>();
    int[] plain = new int[devices];
    int[] dealt = new int[devices];
    for (int i = 0; i < devices; i++) {
      plain[i] = i;
      dealt[i] = i % machines * each + i / machines;
    }
    orders.add(plain);
    if (machines > 1 && each > 1 && first % machines == 0) {
      orders.add(dealt);
    }
    return orders;
  }

  /** The best cut for one division of the devices. */
  private double best(int[] order, int size, int copies) {
    int devices = order.length;
    int[] there = java.util.Arrays.copyOfRange(order, 0, size);
    int[] rest = java.util.Arrays.copyOfRange(order, size, devices);
    java.util.Arrays.sort(there);
    java.util.Arrays.sort(rest);
    double reduceThere = oracle.allReduceSeconds(there, 1);
    double reduceRest = oracle.allReduceSeconds(rest, 1);
    double send = oracle.transferSeconds(there, rest, 1);
    double[] seconds = oracle.secondsPerSample();
    int wave = microBatch * copies;
    int microBatches = globalBatch / wave;
    int layers = costs.size();
    double best = Double.POSITIVE_INFINITY;
    for (int cut = 1; cut < layers; cut++) {
      if (!costs.workload().chain().precedes(cut - 1, layers - 1)) {
        continue;
      }
      double transfer = send * costs.cutBytes()[cut] * wave;
      double slowest =
          Math.max(
              transfer,
              wave
                  * Math.max(
                      seconds[cut] / size, (seconds[layers] - seconds[cut]) / (devices - size)));
      double tail =
          Math.max(
              reduceThere * oracle.gradientBytes(0, cut),
              reduceRest * oracle.gradientBytes(cut, layers) - slowest);
      double once = seconds[layers] * microBatch + transfer / copies;
      best = Math.min(best, slowest * (microBatches - 1) + once + Math.max(0, tail));
    }
    return best;
  }
}
