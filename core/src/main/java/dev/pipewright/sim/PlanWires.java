package dev.pipewright.sim;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.plan.PipelinePlan;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The links that the messages of a plan's stages share: each machine has a port out and a port in,
 * which everything between machines passes; inside a machine stages have links of their own. All
 * have bandwidth 1, for messages as large as they take seconds alone.
 */
public final class PlanWires {
  private PlanWires() {}

  /** By rank; a rank uses the ports of all machines that its devices are in. */
  public static Wires of(PipelinePlan plan, Cluster cluster) {
    List<int[]> machines =
        plan.devicesByRank().stream()
            .map(devices -> devices.stream().mapToInt(cluster::machine).distinct().toArray())
            .toList();
    int ranks = machines.size();
    int ports = 2 * cluster.machines();
    double[] bandwidth = new double[ports + ranks * ranks];
    Arrays.fill(bandwidth, 1);
    return Wires.of(
        bandwidth,
        0,
        (from, to) -> {
          int[] out = without(machines.get(from), machines.get(to));
          int[] in = without(machines.get(to), machines.get(from));
          return out.length + in.length == 0
              ? new int[] {ports + from * ranks + to}
              : IntStream.concat(
                      Arrays.stream(out), Arrays.stream(in).map(m -> cluster.machines() + m))
                  .toArray();
        });
  }

  private static int[] without(int[] machines, int[] others) {
    return Arrays.stream(machines)
        .filter(machine -> Arrays.stream(others).noneMatch(other -> other == machine))
        .toArray();
  }
}
