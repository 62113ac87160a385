package dev.pipewright.cost;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.plan.AsynchronousPlan;
import dev.pipewright.plan.AsynchronousPlan.Rule;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.sim.Conditions;
import dev.pipewright.sim.Run;
import dev.pipewright.trace.RankMemory;
import dev.pipewright.trace.Timeline;
import java.util.ArrayList;
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

  private static final int SHOWN = 2;

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

  /** The device of each rank of {@link AsynchronousPlan#schedule}. */
  public static int[] devices(AsynchronousPlan plan, Cluster cluster) {
    return AsynchronousRun.devices(plan, cluster);
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
    AsynchronousRun simulated = AsynchronousRun.of(plan, costs, conditions, rounds.all(), slowness);
    Run run = simulated.run();
    int[] devices = simulated.devices();
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
        simulated.memory());
  }

  /**
   * The timeline of a short run: the pipeline fills, runs for {@value #SHOWN} rounds and drains.
   *
   * @param slowness as in {@link #of}
   */
  public static Timeline timeline(
      AsynchronousPlan plan, StageCosts costs, Conditions conditions, double... slowness) {
    return AsynchronousRun.of(plan, costs, conditions, shown(plan), slowness).timeline();
  }

  /** How many rounds {@link #timeline} has. */
  public static int shown(AsynchronousPlan plan) {
    Rounds rounds = Rounds.of(plan);
    return rounds.before + Math.min(rounds.measured, SHOWN) + rounds.behind;
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
}
