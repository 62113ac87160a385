package dev.pipewright.app.report.timeline;

import dev.pipewright.schedule.MemoryCap;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Program;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OncePerStepTimes;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Recorder;
import dev.pipewright.sim.Run;
import dev.pipewright.sim.StaticSimulator;
import dev.pipewright.trace.Timeline;
import dev.pipewright.trace.Timeline.Kind;
import dev.pipewright.trace.Timeline.Memory;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Schedules that ran, to draw. */
public final class ScheduleRuns {
  private ScheduleRuns() {}

  public static Shown of(Schedule schedule, int chunks, OpTimes times) {
    return of(schedule.name(), chunks, StaticSimulator.run(schedule, times));
  }

  public static Shown of(String name, int chunks, Run run) {
    return new Shown(name, Recorder.timeline(run, MemoryCap.NONE, chunks), Optional.empty());
  }

  /** The same run where each rank may hold so much. */
  static Shown capped(Shown run, Double... caps) {
    MemoryCap cap = new MemoryCap(List.of(caps));
    Timeline timeline = run.timeline();
    List<Memory> memory =
        timeline.memory().stream()
            .map(each ->
                new Memory(each.rank(), 0, cap.on(each.rank()), each.seconds(), each.bytes()))
            .toList();
    return new Shown(
        run.name(),
        new Timeline(
            timeline.placement(),
            timeline.lanes(),
            timeline.flows(),
            memory,
            timeline.memoryUnit(),
            timeline.stepSeconds()),
        run.period());
  }

  /** As the command shows them, with the micro-batches of the first in all directions. */
  static Runs shown(Shown... runs) {
    Timeline first = runs[0].timeline();
    long forward =
        first.compute().stream()
            .flatMap(lane -> lane.slices().stream())
            .filter(slice -> slice.kind() == Kind.FORWARD)
            .count();
    int stages = first.placement().depth();
    return Runs.of(List.of(runs), (int) (forward / stages), "F 1, B 1, W 1");
  }

  /** Every pass and gradient of a chunk takes one. */
  static Shown of(Schedule schedule, int chunks) {
    return of(schedule, chunks, OpTimes.equal(schedule.stages(), 1, 1, 1, 0));
  }

  /** A stage's parameters go round three workers; when all have used them, each updates its own. */
  static Shown ring() {
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
  static Shown replicas() {
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
    return OpTimes.equal(stages, 1, 1, 1, 0).withStep(new OncePerStepTimes(two, two, two, one));
  }
}
