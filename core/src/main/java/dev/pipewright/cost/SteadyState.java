package dev.pipewright.cost;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cost.StageCost.StageMemory;
import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.plan.AsynchronousPlan.Rule;
import dev.pipewright.plan.StagePlan;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.PipeDream2bw;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Conditions;
import dev.pipewright.sim.EitherSimulator;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.memory.RunMemory;
import dev.pipewright.sim.memory.StageBytes;
import dev.pipewright.trace.RankMemory;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * How fast an asynchronous plan runs once its pipeline is full, in the simulator: rounds in the
 * middle of a long run, away from where it fills and drains.
 *
 * @param seconds of an update: with PipeDream of a mini-batch, with PipeDream-2BW of a batch
 * @param rounds over which that is the mean
 * @param idleShare the part of a round for which a device computes nothing, on average
 * @param ranks the device of each rank
 * @param memory of each rank over the whole run
 */
public record SteadyState(
    double seconds, int rounds, double idleShare, List<Integer> ranks, List<RankMemory> memory) {
  /** Rounds to measure. */
  private static final int MEASURED = 20;

  /** Micro-batches times stages above which fewer rounds are measured. */
  private static final long MOST_PASSES = 400_000;

  public SteadyState {
    ranks = List.copyOf(ranks);
    memory = List.copyOf(memory);
  }

  /** The rounds of a run: to fill, to measure, to drain. */
  private record Rounds(int before, int measured, int behind) {
    static Rounds of(AsynchronousPlan plan) {
      long ranks = plan.devices().length;
      long round = plan.round();
      long passes = round > MOST_PASSES ? MOST_PASSES : round * plan.stages().size();
      return new Rounds(
          (int) Math.ceilDiv(2 * ranks, round) + 1,
          Math.clamp(MOST_PASSES / passes, 1, MEASURED),
          (int) Math.ceilDiv(ranks, round) + 1);
    }

    int all() {
      return before + measured + behind;
    }
  }

  /** How many rounds a run of {@link #of} has. */
  public static int rounds(AsynchronousPlan plan) {
    return Rounds.of(plan).all();
  }

  /**
   * The device of each rank. Those of a stage take turns machine by machine, so that micro-batches
   * stay in theirs where stages have devices in the same ones, as PipeDream's hierarchy wants it.
   */
  public static int[] devices(AsynchronousPlan plan, Cluster cluster) {
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

  /**
   * Runs a plan.
   *
   * @param slowness how many times as long each rank takes for what it computes; none where all
   *     take their time
   */
  public static SteadyState of(
      AsynchronousPlan plan, StageCosts costs, Conditions conditions, double... slowness) {
    Rounds rounds = Rounds.of(plan);
    Schedule schedule = plan.schedule(rounds.all());
    Placement placement = schedule.placement();
    AsynchronousCosts prices = new AsynchronousCosts(costs, plan);
    int[] devices = devices(plan, costs.workload().cluster());
    OpTimes times = prices.times(placement, devices);
    OpTimes own = slowness.length == 0 ? times : times.on(placement, slowness);
    Run run = EitherSimulator.run(schedule, own, conditions);
    double[] ends = ends(plan, run, rounds.all());
    int first = rounds.before - 1;
    double seconds = (ends[first + rounds.measured] - ends[first]) / rounds.measured;
    List<Integer> ranks = new ArrayList<>();
    double busy = 0;
    for (int rank = 0; rank < devices.length; rank++) {
      ranks.add(devices[rank]);
      busy += run.busy(rank) / rounds.all();
    }
    return new SteadyState(
        plan.rule() == Rule.PIPEDREAM ? seconds / plan.round() : seconds,
        rounds.measured,
        seconds == 0 ? 0 : Math.max(0, 1 - busy / devices.length / seconds),
        ranks,
        memory(plan, run, bytes(plan, prices)));
  }

  private static List<RankMemory> memory(AsynchronousPlan plan, Run run, List<StageBytes> stages) {
    return plan.rule() == Rule.PIPEDREAM
        ? RunMemory.of(run, stages)
        : RunMemory.of(
            run, stages, microBatch -> PipeDream2bw.version(microBatch, plan.microBatches()));
  }

  /** When the first stage is done with each round. */
  private static double[] ends(AsynchronousPlan plan, Run run, int rounds) {
    int each = plan.rule() == Rule.PIPEDREAM ? 1 : plan.microBatches(); // of a chain
    Schedule schedule = run.schedule();
    double[] ends = new double[rounds];
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      long[] program = schedule.packed(rank);
      for (int i = 0; i < program.length; i++) {
        if (Schedule.pass(program[i]) == Pass.BACKWARD
            && schedule.placement().first(Schedule.stage(program[i]))) {
          int round = Schedule.microBatch(program[i]) / each;
          ends[round] = Math.max(ends[round], run.end(rank, i));
        }
      }
    }
    return ends;
  }

  private static List<StageBytes> bytes(AsynchronousPlan plan, AsynchronousCosts prices) {
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
}
