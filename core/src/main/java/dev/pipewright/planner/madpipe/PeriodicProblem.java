package dev.pipewright.planner.madpipe;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.planner.recompute.Recomputation;
import dev.pipewright.planner.recompute.TradeOffs;
import dev.pipewright.units.Check;
import java.util.OptionalInt;

/**
 * A chain to be trained on equal devices.
 *
 * @param devices that there are; some may stay idle
 * @param capacityBytes of each device for what its stages hold
 * @param workingBytes of each device in addition, for the layer that computes
 * @param recomputation which layers stages recompute, where devices have one stage ({@link
 *     Recomputation#ofLayers})
 * @param stages exactly so many; any number otherwise
 */
public record PeriodicProblem(
    LayerChain chain,
    int devices,
    double capacityBytes,
    double workingBytes,
    Recomputation recomputation,
    OptionalInt stages) {
  public PeriodicProblem {
    Check.that(devices >= 1, "a plan has devices: devices=%d", devices);
    Check.that(capacityBytes >= 0, "memory must be >= 0: capacity_bytes=%s", capacityBytes);
    Check.that(workingBytes >= 0, "working space must be >= 0: working_bytes=%s", workingBytes);
    recomputation = recomputation.ofLayers();
  }

  /** Nothing runs again. */
  public PeriodicProblem(LayerChain chain, int devices, double capacityBytes) {
    this(chain, devices, capacityBytes, 0, Recomputation.NEVER, OptionalInt.empty());
  }

  /**
   * A network on all devices of a cluster, each taken for the one with the least memory.
   *
   * @param samples of a batch
   */
  public static PeriodicProblem of(StageCosts costs, int samples) {
    double working = costs.workingBytes(samples);
    return new PeriodicProblem(
            LayerChain.of(costs, samples),
            costs.workload().cluster().size(),
            0,
            working,
            Recomputation.NEVER,
            OptionalInt.empty())
        .within((double) costs.workload().cluster().leastMemory().value());
  }

  /** The same with other memory, of which working space is a part. */
  public PeriodicProblem within(double bytes) {
    double capacity = Math.max(0, bytes - workingBytes);
    return new PeriodicProblem(chain, devices, capacity, workingBytes, recomputation, stages);
  }

  /** The memory of each device. */
  public double memoryBytes() {
    return capacityBytes + workingBytes;
  }

  /** What a plan takes of each device, working space included where a device has a stage. */
  public double[] bytes(PlacedPattern plan) {
    double[] bytes = plan.bytes(devices);
    plan.stages().stream()
        .mapToInt(PlacedPattern.Placed::device)
        .distinct()
        .forEach(device -> bytes[device] += workingBytes);
    return bytes;
  }

  /** The same with another chain. */
  PeriodicProblem of(LayerChain other) {
    return new PeriodicProblem(other, devices, capacityBytes, workingBytes, recomputation, stages);
  }

  /** The same with other layers that may run again. */
  public PeriodicProblem recomputing(Recomputation other) {
    return new PeriodicProblem(chain, devices, capacityBytes, workingBytes, other, stages);
  }

  /** The same for exactly so many stages; for any number where there is none. */
  public PeriodicProblem withStages(OptionalInt count) {
    return new PeriodicProblem(chain, devices, capacityBytes, workingBytes, recomputation, count);
  }

  /** Whether a plan may have so many stages. */
  boolean allows(int count) {
    return stages.orElse(count) == count;
  }

  /** What stages cost with so much memory. */
  TradeOffs tradeOffs() {
    return chain.tradeOffs(capacityBytes, recomputation);
  }
}
