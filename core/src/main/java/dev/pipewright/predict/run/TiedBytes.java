package dev.pipewright.predict.run;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.exchange.TiedStages;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.sim.Run;
import java.util.List;
import java.util.stream.IntStream;

/**
 * What a table takes up that a stage and another one have ({@link TiedStages}), beside its newest
 * version: older ones, which follow their own times; both gradients of an update, until a pass
 * meets the version that they make; and the later stage's where they come before the first one
 * updates, together with other messages that were asked for.
 */
final class TiedBytes {
  private final TiedStages stages;
  private final AsyncPipeline asyncPipeline;
  private final double bytes; // of the table
  private final double pending; // of an update's gradients
  private final double[] sent; // when the later stage's are; empty where they are here
  private int handed; // updates
  private int learnt; // likewise
  private int versions = 1;
  private double early;

  private TiedBytes(TiedStages stages, Assignment all, Run run, double bytes, boolean first) {
    this.stages = stages;
    this.asyncPipeline = all.asyncPipeline().orElseThrow();
    this.bytes = bytes;
    this.pending = first && stages.together() ? 0 : 2 * bytes; // which are the second's, too
    this.sent = first && !stages.together() ? updates(stages, all, run) : new double[0];
  }

  /** When the later stage has made each. */
  private static double[] updates(TiedStages stages, Assignment all, Run run) {
    int rank = all.rankOf(stages.seconds().get(0));
    long[] program = all.schedule().packed(rank);
    return IntStream.range(0, program.length)
        .filter(at -> Schedule.pass(program[at]) == Pass.UPDATE)
        .filter(at -> Schedule.stage(program[at]) == stages.second())
        .mapToDouble(at -> run.end(rank, at))
        .toArray();
  }

  /** Of a stage. */
  static List<TiedBytes> of(StageCosts costs, Assignment all, Run run, int depth) {
    double element = costs.workload().profile().precision().bytes();
    return TiedStages.of(all, costs.workload().chain()).stream()
        .filter(each -> depth == each.first() || depth == each.second())
        .map(each ->
            new TiedBytes(each, all, run, each.table().numbers() * element, depth == each.first()))
        .toList();
  }

  /** Of the newest version. */
  double bytes() {
    return bytes;
  }

  /** The stage hands its gradient on with its update, which begins at a time. */
  void update(double time) {
    boolean waits = handed + 1 < sent.length && sent[handed] < time;
    early = waits ? bytes : 0;
    handed++;
  }

  /** An op of the stage has ended. */
  void ended() {
    early = 0;
  }

  /**
   * A pass needs its version.
   *
   * @param oldest micro-batch under way
   */
  void meets(int microBatch, int oldest) {
    int version = asyncPipeline.version(stages.first(), microBatch);
    if (version > learnt) {
      learnt = version;
      versions = 1 + Math.max(0, version - asyncPipeline.version(stages.first(), oldest));
    }
  }

  /** What there is in addition to the newest version. */
  double now() {
    return (versions - 1) * bytes + (handed - learnt) * pending + early;
  }
}
