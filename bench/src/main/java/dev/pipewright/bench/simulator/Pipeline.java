package dev.pipewright.bench.simulator;

import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.StepEnd;
import dev.pipewright.schedule.search.OncePerStepTimes;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Conditions;
import dev.pipewright.sim.Conditions.Transfers;
import dev.pipewright.sim.EventSimulator;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import dev.pipewright.sim.Traffic;
import dev.pipewright.sim.Wires;
import dev.pipewright.sim.memory.RunMemory;
import dev.pipewright.sim.memory.StageBytes;
import dev.pipewright.trace.RankMemory;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;

/**
 * What the simulators are timed on: one forward one backward on stages that differ, 1 to 2 seconds
 * a pass (seeded), on nodes of eight ranks.
 */
public final class Pipeline {
  private static final int PER_NODE = 8;
  private static final double MESSAGE_BYTES = 1;
  private static final double INSIDE = 100; // bytes per second: a message alone takes 0.01 s
  private static final double OUTSIDE = 10;
  private static final double LATENCY = 1e-3;
  private static final double STEP_SECONDS = 2;

  private final int ranks;
  private final int microBatches;
  private final Schedule schedule;
  private final Schedule withEnd;
  private final OpTimes times;
  private final OpTimes equal;

  public Pipeline(int ranks, int microBatches) {
    this.ranks = ranks;
    this.microBatches = microBatches;
    schedule = OneForwardOneBackward.of(ranks, microBatches);
    withEnd = StepEnd.of(schedule);
    SplittableRandom random = new SplittableRandom(64);
    double[][] seconds = new double[4][ranks];
    for (double[] each : seconds) {
      Arrays.setAll(each, stage -> 1 + random.nextDouble());
    }
    double[] step = new double[ranks];
    Arrays.fill(step, STEP_SECONDS);
    times =
        OpTimes.whole(seconds[0], seconds[1], seconds[2], seconds[3])
            .withStep(new OncePerStepTimes(step, step, step, step));
    equal = OpTimes.equal(ranks, 1, 1, 1, 0);
  }

  public Schedule schedule() {
    return schedule;
  }

  int ranks() {
    return ranks;
  }

  int microBatches() {
    return microBatches;
  }

  /** Forward and backward passes. */
  long ops() {
    return 2L * ranks * microBatches;
  }

  /** The end of every op; the departure and the landing of every message. */
  long events() {
    return ops() + 4L * (ranks - 1) * microBatches;
  }

  /** Equal stages without transfers. */
  public Run equalStages() {
    return StaticSimulator.run(schedule, equal);
  }

  /** Transfers that share nothing. */
  public Run plain() {
    return StaticSimulator.run(schedule, times);
  }

  /** Transfers over a cut one after the other. */
  public Run queued() {
    return StaticSimulator.run(schedule, times, Conditions.of(Transfers.QUEUED));
  }

  /** The same; each stage then exchanges its gradients and updates. */
  public Run withStepEnd() {
    return StaticSimulator.run(withEnd, times, Conditions.of(Transfers.QUEUED));
  }

  /** Event by event, nothing shared: agrees with {@link #plain}. */
  public Run events(Transfers transfers) {
    return EventSimulator.run(schedule, times, Conditions.of(transfers));
  }

  /** Neighbours in a node have links of their own; each port is shared by both directions. */
  public Run ports() {
    return shared(Wires.nodes(ranks, PER_NODE, INSIDE, OUTSIDE, LATENCY));
  }

  /** Ranks dealt out to nodes in turn: all messages of eight ranks share the node's ports. */
  public Run crowded() {
    int nodes = Math.ceilDiv(ranks, PER_NODE);
    double[] ports = new double[2 * nodes];
    Arrays.fill(ports, OUTSIDE);
    return shared(
        Wires.of(ports, LATENCY, (from, to) -> new int[] {from % nodes, nodes + to % nodes}));
  }

  private Run shared(Wires wires) {
    double[] cuts = new double[ranks];
    Arrays.fill(cuts, MESSAGE_BYTES);
    return EventSimulator.run(schedule, times, Conditions.PLAIN, Traffic.ofCuts(cuts), wires);
  }

  /** What the ranks of a run hold over time. */
  public List<RankMemory> memory(Run run) {
    StageBytes bytes = new StageBytes(2, 2, 8, 1, 0.1, 0.5, 0.2, 0.1);
    return RunMemory.of(run, Collections.nCopies(ranks, bytes));
  }
}
