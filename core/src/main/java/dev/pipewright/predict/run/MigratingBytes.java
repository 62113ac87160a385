package dev.pipewright.predict.run;

import dev.pipewright.cost.StageCosts;
import dev.pipewright.exchange.OwnershipSchedule;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.sim.Run;

/**
 * Bytes of a stage whose states migrate: a worker allocates them when it asks for them, and frees
 * them when they have been sent. In asynchronous runs they return to their owner between steps.
 */
final class MigratingBytes implements AsyncBytes {
  private final OwnershipSchedule way;
  private final Run run;
  private final int rank;
  private final int worker;
  private final long[] program;
  private final double parameters;
  private final double always; // what goes along each time
  private boolean here;
  private boolean older; // version is here
  private boolean sum; // likewise
  private double coming;
  private final InFlightSends leaving = new InFlightSends();

  /**
   * @param all steps enough to be typical
   * @param run of all of them
   */
  MigratingBytes(StageCosts costs, Assignment all, Run run, int depth, int rank) {
    LayerRange range = all.stages().get(depth).range();
    this.way = OwnershipSchedule.of(all, depth);
    this.run = run;
    this.rank = rank;
    this.worker = all.firstWorker(rank);
    this.program = all.schedule().packed(rank);
    this.parameters = costs.parameterBytes(range.first(), range.last() + 1);
    this.always = costs.staticBytes(range.first(), range.last() + 1) - parameters;
    this.here = way.worker(-1) == worker;
    gradientPass(0);
  }

  @Override
  public double now(double time) {
    return held() + leaving.bytes(time) + coming;
  }

  private double held() {
    return (here ? always : 0) + ((older ? 1 : 0) + (sum ? 1 : 0)) * parameters;
  }

  @Override
  public void ask(int at) {
    int turn = Schedule.microBatch(program[at]);
    coming = way.comes(turn) ? always + way.extra(turn) * parameters : 0;
  }

  @Override
  public void run(int at) {
    int stop = way.at(rank, at);
    coming = 0;
    here = true;
    Pass pass = way.stop(stop).pass();
    older = way.older(stop) || (pass == Pass.UPDATE && way.older(stop + 1));
    sum = way.sum(stop) || pass == Pass.BACKWARD;
  }

  @Override
  public void ended(int at) {
    int stop = way.at(rank, at);
    older = way.older(stop + 1);
    sum = way.sum(stop + 1);
    gradientPass(stop + 1);
  }

  private void gradientPass(int next) {
    if (!here || way.worker(next) == worker) {
      return;
    }
    if (next < way.size()) { // otherwise it goes home, where a worker waits for it
      OwnershipSchedule.Stop stop = way.stop(next);
      double start = run.start(stop.rank(), stop.asked());
      leaving.add(held(), start, run.end(stop.rank(), stop.asked()));
    }
    here = false;
    older = false;
    sum = false;
  }
}
