package dev.pipewright.cost;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.plan.AsynchronousPlan.Rule;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.schedule.PipeDream2bw;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Conditions;
import dev.pipewright.sim.EitherSimulator;
import dev.pipewright.sim.Recorder;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.memory.RunMemory;
import dev.pipewright.sim.memory.StageBytes;
import dev.pipewright.trace.RankMemory;
import dev.pipewright.trace.Timeline;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Some rounds of an asynchronous plan in the simulator, from the start until the pipeline is empty.
 *
 * @param devices the device of each rank; of copies that do the same the first one's
 * @param times of ops, undisturbed
 */
record AsynchronousRun(
    AsynchronousPlan plan, AsynchronousCosts prices, int[] devices, OpTimes times, Run run) {
  /**
   * Runs a plan.
   *
   * @param rounds see {@link AsynchronousPlan#round}
   * @param slowness how many times as long each rank takes for what it computes; none where all
   *     take their time
   */
  static AsynchronousRun of(
      AsynchronousPlan plan,
      StageCosts costs,
      Conditions conditions,
      int rounds,
      double... slowness) {
    Schedule schedule = plan.schedule(rounds);
    Placement placement = schedule.placement();
    AsynchronousCosts prices = new AsynchronousCosts(costs, plan);
    int[] devices = devices(plan, costs.workload().cluster());
    OpTimes times = prices.times(placement, devices);
    OpTimes own = slowness.length == 0 ? times : times.on(placement, slowness);
    return new AsynchronousRun(
        plan, prices, devices, times, EitherSimulator.run(schedule, own, conditions));
  }

  /**
   * The device of each rank. Those of a stage take turns machine by machine, so that micro-batches
   * stay in theirs where stages have devices in the same ones, as PipeDream's hierarchy wants it.
   */
  static int[] devices(AsynchronousPlan plan, Cluster cluster) {
    int[] devices = plan.devices();
    int from = 0;
    for (StagePlan stage : plan.stages()) {
      int count = plan.rule() == Rule.PIPEDREAM ? stage.replicas() : 1;
      inTurn(devices, from, count, cluster);
      from += count;
    }
    return devices;
  }

  /** Puts the first of each machine first, then the second of each, and so on. */
  private static void inTurn(int[] devices, int from, int count, Cluster cluster) {
    int[] met = new int[cluster.machines()];
    List<int[]> turns = new ArrayList<>(); // turn of its machine, device
    for (int i = from; i < from + count; i++) {
      turns.add(new int[] {met[cluster.machine(devices[i])]++, devices[i]});
    }
    turns.sort(Comparator.comparingInt(turn -> turn[0])); // stable
    for (int i = 0; i < count; i++) {
      devices[from + i] = turns.get(i)[1];
    }
  }

  /** What each rank holds over time. */
  List<RankMemory> memory() {
    return plan.rule() == Rule.PIPEDREAM
        ? RunMemory.of(run, bytes())
        : RunMemory.of(
            run, bytes(), microBatch -> PipeDream2bw.version(microBatch, plan.microBatches()));
  }

  private List<StageBytes> bytes() {
    List<StageBytes> stages = new ArrayList<>();
    for (int stage = 0; stage < plan.stages().size(); stage++) {
      StageMemory memory = prices.memory().get(stage);
      stages.add(
          new StageBytes(
              prices.weightBytes(stage),
              memory.states().gradients(),
              memory.states().optimizer(),
              memory.heldBytes(),
              0,
              1,
              memory.workingBytes(),
              0));
    }
    return stages;
  }

  /** The timeline of all rounds, with transfers and memory. */
  Timeline timeline() {
    Placement placement = run.schedule().placement();
    List<List<Integer>> lanes = new ArrayList<>();
    List<Timeline.Memory> curves = new ArrayList<>();
    for (RankMemory rank : memory()) {
      int stage = 0;
      while (placement.rankOf(stage) != rank.rank()) {
        stage++;
      }
      StageMemory sizes = prices.memory().get(stage % placement.depth());
      List<Integer> copies = plan.stages().get(stage % placement.depth()).devices();
      lanes.add(plan.rule() == Rule.PIPEDREAM ? List.of(devices[rank.rank()]) : copies);
      curves.add(PlanTimeline.curve(rank, sizes.device()));
    }
    return Recorder.timeline(run, lanes, times.there(), times.back(), curves);
  }
}
