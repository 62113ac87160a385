package dev.pipewright.predict.run;

import dev.pipewright.cluster.Software;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OncePerStepTimes;
import dev.pipewright.schedule.search.OpTimes;
import java.util.Arrays;

/**
 * What sums of gradients take from the passes of other stages. A rank that holds several stages
 * sums the gradients of one while it computes with another; as far as computing does not hide a sum
 * ({@link Software#overlap}), it takes that long from the passes. The rank's last sum ends so much
 * later.
 */
final class SumsOfOtherStages {
  private final OpTimes times;
  private final double overlap;
  private final double[] reduce;

  private SumsOfOtherStages(OpTimes times, double overlap) {
    this.times = times;
    this.overlap = overlap;
    this.reduce = times.step().reduce().clone();
  }

  /**
   * Times that count it.
   *
   * @param times in which a sum takes what its own stage's passes leave of it
   */
  static OpTimes counted(Schedule schedule, OpTimes times, Software software) {
    SumsOfOtherStages sums = new SumsOfOtherStages(times, software.overlap());
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      sums.count(schedule.packed(rank));
    }
    OncePerStepTimes step = times.step();
    return times.withStep(
        new OncePerStepTimes(step.gather(), sums.reduce, step.gradientPass(), step.update()));
  }

  /** A sum that begins before another has ended waits for it. */
  private void count(long[] program) {
    int[] passes = new int[reduce.length]; // of each stage's gradients that are left
    for (long op : program) {
      passes[Schedule.stage(op)] += Schedule.pass(op).releases() ? 1 : 0;
    }
    double lost = 0;
    double summing = 0; // seconds of what has begun
    for (long op : program) {
      double beside = Math.min(summing, times.seconds(op));
      lost += (1 - overlap) * beside;
      summing -= beside;
      int stage = Schedule.stage(op);
      Pass pass = Schedule.pass(op);
      if (pass.releases() && --passes[stage] == 0) {
        summing += times.step().reduce()[stage];
        if (Arrays.stream(passes).sum() == 0) {
          reduce[stage] += lost;
        }
      }
    }
  }
}
