package dev.pipewright.compare;

import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OncePerStepTimes;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Conditions;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import java.util.EnumMap;
import java.util.Map;

/**
 * What a step would have taken whose ops wait for nothing but each other: messages and sums of
 * gradients take no time, and every op of a stage as long as ops of its kind did there on average.
 * What a measured step takes longer is the runtime's own.
 */
final class IdealRun {
  private final Run measured;
  private final int stages;
  private final Map<Pass, double[]> sums = new EnumMap<>(Pass.class); // seconds by stage
  private final Map<Pass, int[]> counts = new EnumMap<>(Pass.class);

  private IdealRun(Run measured) {
    this.measured = measured;
    this.stages = measured.schedule().placement().stages();
  }

  /** Seconds from the first op to the end of the last. */
  static double seconds(Run measured) {
    IdealRun ideal = new IdealRun(measured);
    ideal.add();
    return StaticSimulator.run(measured.schedule(), ideal.times(), Conditions.PLAIN).makespan();
  }

  private void add() {
    Schedule schedule = measured.schedule();
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      long[] program = schedule.packed(rank);
      for (int i = 0; i < program.length; i++) {
        Pass pass = Schedule.pass(program[i]);
        int stage = Schedule.stage(program[i]);
        double[] seconds = sums.computeIfAbsent(pass, p -> new double[stages]);
        seconds[stage] += measured.end(rank, i) - measured.start(rank, i);
        counts.computeIfAbsent(pass, p -> new int[stages])[stage]++;
      }
    }
  }

  private double[] means(Pass pass) {
    double[] means = new double[stages];
    double[] seconds = sums.getOrDefault(pass, means);
    int[] count = counts.getOrDefault(pass, new int[stages]);
    for (int stage = 0; stage < stages; stage++) {
      means[stage] = count[stage] == 0 ? 0 : seconds[stage] / count[stage];
    }
    return means;
  }

  private OpTimes times() {
    double[] forward = means(Pass.FORWARD);
    double[] whole = means(Pass.BACKWARD);
    double[] input = means(Pass.BACKWARD_INPUT);
    double[] weight = means(Pass.BACKWARD_WEIGHT);
    for (int stage = 0; stage < stages; stage++) {
      if (input[stage] == 0) { // its backward passes are never split
        input[stage] = whole[stage];
      }
    }
    double[] none = new double[stages];
    return new OpTimes(
        forward,
        input,
        weight,
        means(Pass.RECOMPUTE),
        none,
        none,
        new OncePerStepTimes(none, none, none, means(Pass.UPDATE)),
        false);
  }
}
