package dev.pipewright.app.report;

import dev.pipewright.schedule.MemoryCap;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Program;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.schedule.search.StepTimes;
import dev.pipewright.sim.Recorder;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Schedules that ran, to draw. */
final class ScheduleRuns {
  private ScheduleRuns() {}

  static ScheduleRun of(Schedule schedule, int chunks, OpTimes times) {
    return of(schedule.name(), chunks, StaticSimulator.run(schedule, times));
  }

  static ScheduleRun of(String name, int chunks, Run run) {
    Schedule schedule = run.schedule();
    int ranks = schedule.ranks();
    double[][] starts = new double[ranks][];
    double[][] ends = new double[ranks][];
    for (int rank = 0; rank < ranks; rank++) {
      int of = rank;
      int ops = schedule.packed(rank).length;
      starts[rank] = IntStream.range(0, ops).mapToDouble(i -> run.start(of, i)).toArray();
      ends[rank] = IntStream.range(0, ops).mapToDouble(i -> run.end(of, i)).toArray();
    }
    double[] busy = IntStream.range(0, ranks).mapToDouble(run::busy).toArray();
    return new ScheduleRun(
        name,
        schedule.microBatches() * schedule.placement().chains(),
        "F 1, B 1, W 1",
        chunks,
        schedule,
        Recorder.timeline(run, MemoryCap.NONE, chunks),
        starts,
        ends,
        new ScheduleRun.Figures(
            run.makespan(),
            run.idleShare(),
            run.spanIdleShare(),
            busy,
            IntStream.range(0, ranks).map(run::heldBefore).toArray(),
            run.peakActivations()),
        MemoryCap.NONE);
  }

  static ScheduleRun capped(ScheduleRun run, Double... caps) {
    return new ScheduleRun(
        run.name(),
        run.microBatches(),
        run.times(),
        run.chunks(),
        run.schedule(),
        run.timeline(),
        run.starts(),
        run.ends(),
        run.figures(),
        new MemoryCap(List.of(caps)));
  }

  /** Every pass and gradient of a chunk takes one. */
  static ScheduleRun of(Schedule schedule, int chunks) {
    return of(schedule, chunks, OpTimes.equal(schedule.stages(), 1, 1, 1, 0));
  }

  /** A stage's parameters go round three workers; when all have used them, each updates its own. */
  static ScheduleRun ring() {
    long[][] programs = new long[3][];
    for (int worker = 0; worker < programs.length; worker++) {
      Program program = new Program();
      program.add(Pass.HAND_ON, worker, worker).add(Pass.FORWARD, worker, 0);
      program.add(Pass.BACKWARD, worker, 0);
      program.add(Pass.HAND_ON, worker, 3 + worker).add(Pass.UPDATE, worker, 0);
      programs[worker] = program.packed();
    }
    return of(new Schedule("ring", Placement.of(3, 3, 0, 1, 2), 1, programs), 1, times(3));
  }

  /** Two workers add up the gradients of their two stages while they compute on. */
  static ScheduleRun replicas() {
    long[][] programs = new long[2][];
    for (int worker = 0; worker < programs.length; worker++) {
      int first = 2 * worker;
      Program program = new Program();
      program.add(Pass.FORWARD, first, 0).add(Pass.GATHER, first + 1, 0);
      program.add(Pass.FORWARD, first + 1, 0).add(Pass.BACKWARD, first + 1, 0);
      program.add(Pass.REDUCE, first + 1, 0).add(Pass.BACKWARD, first, 0);
      program.add(Pass.REDUCE, first, 0).add(Pass.UPDATE, first + 1, 0);
      programs[worker] = program.add(Pass.UPDATE, first, 0).packed();
    }
    return of(new Schedule("replicas", Placement.of(2, 2, 0, 0, 1, 1), 1, programs), 2, times(4));
  }

  /** Passes take one, exchanges two, updates one. */
  private static OpTimes times(int stages) {
    double[] one = new double[stages];
    double[] two = new double[stages];
    Arrays.fill(one, 1);
    Arrays.fill(two, 2);
    return OpTimes.equal(stages, 1, 1, 1, 0).withStep(new StepTimes(two, two, two, one));
  }
}
