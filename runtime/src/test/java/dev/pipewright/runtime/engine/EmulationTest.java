package dev.pipewright.runtime.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.Emulation;
import dev.pipewright.execution.Emulation.LayerSeconds;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Work;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.Recompute;
import dev.pipewright.runtime.Patterns;
import dev.pipewright.runtime.net.Network;
import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.runtime.transport.LocalTransport;
import dev.pipewright.runtime.transport.Transport;
import dev.pipewright.schedule.Chimera;
import dev.pipewright.schedule.Interleaved;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.schedule.cyclic.Cyclic;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Workers that compute nothing keep to their programs and wait for each other as real ones do. How
 * exactly they take their time is a matter of the machine, so only the least is tested.
 */
class EmulationTest {
  private static final LayerSeconds EACH = new LayerSeconds(1e-3, 2e-3, 1e-3, 5e-4);
  static final int STEPS = 2;

  @BeforeAll
  static void load() {
    Torch.start(1);
  }

  /** Layers of which only sizes are known: nothing could compute them. */
  private static LayerGraph recorded(int layers) {
    List<Layer> all = new ArrayList<>();
    for (int i = 0; i < layers; i++) {
      var operator = new Operator.Recorded("a layer");
      all.add(new Layer("layer" + i, operator, Optional.of(Shape.of(10)), 30, 10, 10, Work.NONE));
    }
    return LayerGraph.chain("recorded", all);
  }

  private static Assignment assignment(Schedule schedule, int replicas, Recompute recompute) {
    List<StageLayers> stages = stages(schedule.placement().depth(), recompute);
    return new Assignment(
        schedule, stages, Collections.nCopies(schedule.ranks(), replicas), 20, replicas > 1);
  }

  private static List<StageLayers> stages(int depth, Recompute recompute) {
    return IntStream.range(0, depth)
        .mapToObj(s -> new StageLayers(new LayerRange(s, s), recompute, List.of()))
        .toList();
  }

  private static Assignment assignment(AsyncPipeline asyncPipeline, int workers) {
    int ranks = asyncPipeline.schedule(asyncPipeline.round()).ranks();
    List<StageLayers> stages = stages(asyncPipeline.stages(), Recompute.NONE);
    return Assignment.of(asyncPipeline, stages, Collections.nCopies(ranks, workers), 20);
  }

  private static List<List<StepReport>> run(Assignment assignment) throws Exception {
    LayerGraph graph = recorded(assignment.stages().size());
    return run(graph, assignment, 100, UnaryOperator.identity());
  }

  /**
   * By worker and step.
   *
   * @param seen what each worker has in place of its transport
   */
  static List<List<StepReport>> run(
      LayerGraph graph, Assignment assignment, long bucketBytes, UnaryOperator<Transport> seen)
      throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(assignment.size())) {
      List<Future<List<StepReport>>> running = new ArrayList<>();
      for (LocalTransport transport : LocalTransport.of(assignment.size())) {
        running.add(threads.submit(() -> work(graph, assignment, bucketBytes, transport, seen)));
      }
      List<List<StepReport>> reports = new ArrayList<>();
      for (Future<List<StepReport>> worker : running) {
        reports.add(worker.get());
      }
      return reports;
    }
  }

  private static List<StepReport> work(
      LayerGraph graph,
      Assignment assignment,
      long bucketBytes,
      LocalTransport transport,
      UnaryOperator<Transport> seen) {
    Network network = Network.ofSizes(Chain.of(graph));
    Emulation emulation = new Emulation(Collections.nCopies(network.chain().size(), EACH));
    Transport own = seen.apply(transport);
    try (Worker worker =
        Worker.emulating(emulation, assignment, network, own, bucketBytes, OpListener.NONE)) {
      List<StepReport> reports = new ArrayList<>();
      worker.begin(0, STEPS);
      for (int step = 0; step < STEPS; step++) {
        reports.add(worker.step(step));
      }
      return reports;
    } catch (RuntimeException | Error e) {
      transport.fail(e);
      throw e;
    }
  }

  @Test
  void everyScheduleRunsInItsOrderAndTakesItsTime() throws Exception {
    List<Schedule> schedules =
        List.of(
            OneForwardOneBackward.of(3, 5),
            ZeroBubbleH1.of(3, 5),
            Interleaved.of(2, 2, 4),
            Chimera.of(2, 4));
    for (Schedule schedule : schedules) {
      for (int replicas = 1; replicas <= 2; replicas++) {
        check(assignment(schedule, replicas, Recompute.NONE), 0);
      }
      check(assignment(schedule, 1, Recompute.STAGE_INPUT), EACH.forward());
    }
  }

  /**
   * Its backward pass begins without another forward pass: what was kept is not asked for again.
   */
  @Test
  void theLastMicroBatchIsNotRecomputedWhereItKeepsAll() {
    Stage stage =
        Stage.of(
            assignment(OneForwardOneBackward.of(1, 2), 1, Recompute.EXCEPT_LAST),
            0,
            Network.ofSizes(Chain.of(recorded(1))),
            100);
    Emulation emulation = new Emulation(List.of(EACH));
    try (Flight first = new EmulatedFlight(stage, emulation, 1, false);
        Flight last = new EmulatedFlight(stage, emulation, 1, true)) {
      assertTrue(first.wantsRecomputation());
      assertFalse(last.wantsRecomputation());
    }
  }

  /** In the ring, sums go from worker to worker; where two compute a stage, they add up. */
  @Test
  void stepsThatFlowRunInTheirOrderAndTakeTheirTime() throws Exception {
    List<AsyncPipeline> flows = new ArrayList<>();
    flows.add(new AsyncPipeline.PipeDream(List.of(1, 1, 1), false));
    flows.add(new AsyncPipeline.PipeDream(List.of(2, 1), false));
    flows.add(new AsyncPipeline.DoubleBuffered(3, 4, false));
    flows.add(Patterns.twoOnEach());
    for (Cyclic.Form form : Cyclic.Form.values()) {
      if (form != Cyclic.Form.ZERO) { // whose states are handed on
        for (Cyclic.Rule rule : Cyclic.Rule.values()) {
          flows.add(new AsyncPipeline.CyclicDataParallel(new Cyclic(3), form, rule));
        }
      }
    }
    for (AsyncPipeline asyncPipeline : flows) {
      check(assignment(asyncPipeline, 1));
    }
    check(assignment(new AsyncPipeline.DoubleBuffered(2, 4, true), 2));
  }

  private static void check(Assignment asynchronous) throws Exception {
    List<Times> times = run(asynchronous).stream().map(Times::together).toList();
    check(asynchronous.over(STEPS), times, 0);
  }

  private static void check(Assignment assignment, double again) throws Exception {
    List<List<StepReport>> reports = run(assignment);
    for (int step = 0; step < STEPS; step++) {
      int number = step;
      List<StepReport> all = reports.stream().map(own -> own.get(number)).toList();
      check(
          assignment, all.stream().map(report -> Times.together(List.of(report))).toList(), again);
      for (StepReport report : all) {
        assertFalse(
            report.updateEnded() - report.updateStarted() < nanoseconds(EACH.update()),
            "the update takes its time, of each stage");
      }
    }
  }

  /** When a worker came to each op of a program. */
  private record Times(long[] waited, long[] started, long[] ended) {
    static Times together(List<StepReport> reports) {
      return new Times(
          reports.stream().flatMapToLong(report -> Arrays.stream(report.waited())).toArray(),
          reports.stream().flatMapToLong(report -> Arrays.stream(report.started())).toArray(),
          reports.stream().flatMapToLong(report -> Arrays.stream(report.ended())).toArray());
    }
  }

  /**
   * @param times by worker
   */
  private static void check(Assignment assignment, List<Times> times, double again) {
    for (int worker = 0; worker < times.size(); worker++) {
      long[] program = assignment.schedule().packed(assignment.rankOf(worker));
      inOrder(program, times.get(worker), again);
      for (int at = 0; at < program.length; at++) {
        behindItsInput(assignment, times, worker, at, again);
      }
    }
  }

  private static void inOrder(long[] program, Times times, double again) {
    long before = Long.MIN_VALUE;
    assertEquals(program.length, times.started().length);
    for (int at = 0; at < program.length; at++) {
      assertTrue(before <= times.waited()[at] && times.waited()[at] <= times.started()[at]);
      double seconds = seconds(program[at], again);
      assertFalse(times.ended()[at] - times.started()[at] < nanoseconds(seconds));
      before = times.ended()[at];
    }
  }

  private static double seconds(long op, double again) {
    return switch (Schedule.pass(op)) {
      case FORWARD -> EACH.forward();
      case BACKWARD -> EACH.backward() + again;
      case BACKWARD_INPUT -> EACH.input() + again;
      case BACKWARD_WEIGHT -> EACH.weight();
      case UPDATE -> EACH.update();
      case REDUCE, HAND_ON -> 0;
      case RECOMPUTE, GATHER -> throw new IllegalArgumentException("no such op here");
    };
  }

  private static long nanoseconds(double seconds) {
    return Math.round(seconds * 1e9);
  }

  /** An op starts after the op that makes what it takes has taken its time. */
  private static void behindItsInput(
      Assignment assignment, List<Times> times, int worker, int at, double again) {
    Placement placement = assignment.schedule().placement();
    long op = assignment.schedule().packed(assignment.rankOf(worker))[at];
    int stage = Schedule.stage(op);
    boolean forward = Schedule.pass(op) == Pass.FORWARD;
    boolean takes =
        forward
            ? !placement.first(stage)
            : Schedule.pass(op).propagates() && !placement.last(stage);
    if (!takes) {
      return;
    }
    int from = forward ? stage - 1 : stage + 1;
    int rank = placement.rankOf(from);
    long[] program = assignment.schedule().packed(rank);
    int producer =
        IntStream.range(0, program.length)
            .filter(i -> Schedule.stage(program[i]) == from)
            .filter(i -> Schedule.microBatch(program[i]) == Schedule.microBatch(op))
            .filter(i ->
                forward
                    ? Schedule.pass(program[i]) == Pass.FORWARD
                    : Schedule.pass(program[i]).propagates())
            .findFirst()
            .orElseThrow();
    for (int i = 0; i < assignment.workers().get(rank); i++) {
      Times sender = times.get(assignment.firstWorker(rank) + i);
      boolean heard =
          !assignment
              .samples(from, Schedule.microBatch(op), assignment.firstWorker(rank) + i)
              .overlap(assignment.samples(stage, Schedule.microBatch(op), worker))
              .isEmpty();
      long made = sender.started()[producer] + nanoseconds(seconds(program[producer], again));
      assertTrue(!heard || times.get(worker).started()[at] >= made);
    }
  }
}
