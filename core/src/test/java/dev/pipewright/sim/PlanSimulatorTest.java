package dev.pipewright.sim;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.PathFormula;
import dev.pipewright.cost.Pipelines;
import dev.pipewright.cost.PivotFormula;
import dev.pipewright.schedule.GPipe;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.WarmUp;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlanSimulatorTest {
  private static StageTimes times(Pipelines pipeline) {
    return new StageTimes(
        pipeline.forward(),
        pipeline.backward(),
        pipeline.there(),
        pipeline.back(),
        pipeline.tail(),
        new double[pipeline.stages()]);
  }

  private static double simulated(Pipelines pipeline, WarmUp warmUp) {
    Schedule schedule = warmUp.schedule(pipeline.microBatches(), pipeline.inFlight());
    return PlanSimulator.run(schedule, times(pipeline)).end();
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "1, 7", "2, 2", "4, 4", "4, 16", "6, 3", "8, 8", "5, 32"})
  void evenPipelinesTakeOnePassPerMicroBatchAndStageBeyondTheFirst(int stages, int microBatches) {
    StageTimes times = StageTimes.uniform(stages, 1, 2);
    double closed = (microBatches + stages - 1) * 3;
    for (WarmUp warmUp : WarmUp.values()) {
      int[] inFlight = warmUp.inFlight(stages, microBatches);
      Schedule schedule = warmUp.schedule(microBatches, inFlight);
      assertEquals(closed, PlanSimulator.run(schedule, times).end(), 1e-12, warmUp.name());
      var even = even(stages, microBatches, inFlight);
      assertEquals(closed, even.seconds(new PathFormula()), 1e-12, warmUp.name());
    }
  }

  private static Pipelines even(int stages, int microBatches, int[] inFlight) {
    double[] none = new double[stages];
    StageTimes times = StageTimes.uniform(stages, 1, 2);
    return new Pipelines(
        times.forward(), times.backward(), none, none, none, inFlight, microBatches);
  }

  @RepeatedTest(value = 300, name = "seed {currentRepetition}")
  void thePathFormulaNeverExceedsTheSimulation(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int stages = random.nextInt(1, 7);
    int microBatches = random.nextInt(4, 33);
    Pipelines pipeline = Pipelines.random(random, stages, microBatches);
    for (WarmUp warmUp : WarmUp.values()) {
      neverExceeds(pipeline.with(warmUp.inFlight(stages, microBatches)), warmUp);
    }
    neverExceeds(pipeline.descending(), WarmUp.A); // as little in flight as memory allows
    Pipelines few = Pipelines.random(random, stages, random.nextInt(1, 5));
    neverExceeds(few.with(WarmUp.B.inFlight(stages, few.microBatches())), WarmUp.B);
  }

  private static void neverExceeds(Pipelines pipeline, WarmUp warmUp) {
    double estimate = pipeline.seconds(new PathFormula());
    double simulated = simulated(pipeline, warmUp);
    assertTrue(
        estimate <= simulated * (1 + 1e-12),
        () -> warmUp + ": estimate " + estimate + " > simulated " + simulated);
  }

  @RepeatedTest(value = 300, name = "seed {currentRepetition}")
  void agreesWithIterationToAFixedPoint(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int stages = random.nextInt(1, 6);
    int microBatches = random.nextInt(1, 9);
    Pipelines pipeline = Pipelines.random(random, stages, microBatches);
    Schedule schedule = randomSchedule(random, stages, microBatches);
    PlanRun run = PlanSimulator.run(schedule, times(pipeline));
    FixedPoint truth = new FixedPoint(schedule, times(pipeline));
    for (int stage = 0; stage < stages; stage++) {
      for (int i = 0; i < microBatches; i++) {
        int at = stage * microBatches + i;
        assertEquals(truth.end("F", stage, i), run.forwardEnd()[at], 1e-12);
        assertEquals(truth.end("B", stage, i), run.backwardEnd()[at], 1e-12);
        if (stage > 0) {
          assertEquals(truth.end("there", stage - 1, i), run.activationAt()[at], 1e-12);
        }
        if (stage < stages - 1) {
          assertEquals(truth.end("back", stage, i), run.gradientAt()[at], 1e-12);
        }
      }
    }
    assertEquals(truth.makespan(), run.end(), 1e-12);
  }

  /** Any order of all ops that can run: whatever is ready, stage by stage, as chance has it. */
  private static Schedule randomSchedule(SplittableRandom random, int stages, int microBatches) {
    List<List<Long>> programs = new ArrayList<>();
    for (int stage = 0; stage < stages; stage++) {
      programs.add(new ArrayList<>());
    }
    List<Op> waiting = new ArrayList<>();
    for (Pass pass : List.of(Pass.FORWARD, Pass.BACKWARD)) {
      for (int stage = 0; stage < stages; stage++) {
        for (int i = 0; i < microBatches; i++) {
          waiting.add(new Op(pass, stage, i));
        }
      }
    }
    while (!waiting.isEmpty()) {
      Op op = waiting.get(random.nextInt(waiting.size()));
      boolean forward = op.pass() == Pass.FORWARD;
      int before = op.stage() + (forward ? -1 : 1);
      boolean first = before < 0 || before == stages;
      Op needs = first ? op : new Op(op.pass(), before, op.microBatch());
      boolean arrived = first || !waiting.contains(needs);
      boolean kept =
          forward || !waiting.contains(new Op(Pass.FORWARD, op.stage(), op.microBatch()));
      if (arrived && kept) {
        waiting.remove(op);
        programs.get(op.stage()).add(Schedule.pack(op.pass(), op.stage(), op.microBatch()));
      }
    }
    long[][] packed = new long[stages][];
    for (int stage = 0; stage < stages; stage++) {
      packed[stage] = programs.get(stage).stream().mapToLong(Long::longValue).toArray();
    }
    return new Schedule("random", stages, microBatches, packed);
  }

  /** Ends of all ops and transfers by repeating "start when all that comes before has ended". */
  private static final class FixedPoint {
    private record Task(String what, int stage, int microBatch) {}

    private final Map<Task, Double> seconds = new HashMap<>();
    private final Map<Task, List<Task>> after = new HashMap<>();
    private final Map<Task, Double> end = new HashMap<>();
    private final StageTimes times;

    FixedPoint(Schedule schedule, StageTimes times) {
      this.times = times;
      int last = schedule.stages() - 1;
      for (int stage = 0; stage <= last; stage++) {
        List<Task> device = new ArrayList<>();
        List<Task> there = new ArrayList<>();
        List<Task> back = new ArrayList<>();
        for (Op op : schedule.program(stage)) {
          int i = op.microBatch();
          boolean forward = op.pass() == Pass.FORWARD;
          Task task = new Task(forward ? "F" : "B", stage, i);
          add(task, (forward ? times.forward() : times.backward())[stage], device);
          if (forward && stage > 0) {
            after(task).add(new Task("there", stage - 1, i));
          }
          if (!forward) {
            after(task).add(stage == last ? new Task("F", stage, i) : new Task("back", stage, i));
          }
          if (forward && stage < last) {
            Task send = new Task("there", stage, i);
            add(send, times.there()[stage], there);
            after(send).add(task);
          }
          if (!forward && stage > 0) {
            Task send = new Task("back", stage - 1, i);
            add(send, times.back()[stage - 1], back);
            after(send).add(task);
          }
        }
      }
      iterate();
    }

    /** On a resource that does one thing at a time, in order. */
    private void add(Task task, double duration, List<Task> resource) {
      seconds.put(task, duration);
      if (!resource.isEmpty()) {
        after(task).add(resource.get(resource.size() - 1));
      }
      resource.add(task);
    }

    private List<Task> after(Task task) {
      return after.computeIfAbsent(task, t -> new ArrayList<>());
    }

    private void iterate() {
      boolean changed = true;
      while (changed) {
        changed = false;
        for (Task task : seconds.keySet()) {
          double start = 0;
          for (Task before : after(task)) {
            start = Math.max(start, end.getOrDefault(before, 0.0));
          }
          double now = start + seconds.get(task);
          Double known = end.put(task, now);
          changed |= known == null || known != now;
        }
      }
    }

    double end(String what, int stage, int microBatch) {
      return end.getOrDefault(new Task(what, stage, microBatch), Double.NaN);
    }

    double makespan() {
      double makespan = 0;
      for (Task task : end.keySet()) {
        if (task.what.equals("B")) {
          double tail = times.allReduce()[task.stage] + times.update()[task.stage];
          makespan = Math.max(makespan, end.get(task) + tail);
        }
      }
      return makespan;
    }
  }

  @Test
  void transfersOfOneDirectionQueueAndThoseOfTheOtherDoNotWait() {
    StageTimes times =
        new StageTimes(
            new double[] {1, 1},
            new double[] {1, 1},
            new double[] {3, 0},
            new double[] {2, 0},
            new double[2],
            new double[2]);
    PlanRun run = PlanSimulator.run(GPipe.of(2, 2), times);
    assertArrayEquals(new double[] {0, 0, 4, 7}, run.activationAt());
    assertArrayEquals(new double[] {11, 13}, Arrays.copyOf(run.gradientAt(), 2));
    assertEquals(14, run.end());
  }

  @Test
  void theTailOfTheSlowestStageEndsTheStep() {
    StageTimes times =
        new StageTimes(
            new double[] {1, 1},
            new double[] {1, 1},
            new double[2],
            new double[2],
            new double[] {1, 5},
            new double[] {0.5, 0.25});
    PlanRun run = PlanSimulator.run(GPipe.of(2, 1), times);
    assertArrayEquals(new double[] {4, 3}, run.lastBackwardEnd());
    assertEquals(3 + 5 + 0.25, run.end());
  }

  @Test
  void aBackwardPassBeforeItsForwardPassNeverRuns() {
    long[][] programs = {
      {Schedule.pack(Pass.BACKWARD, 0, 0), Schedule.pack(Pass.FORWARD, 0, 0)},
    };
    Schedule schedule = new Schedule("wrong", 1, 1, programs);
    Exception e =
        assertThrows(
            IllegalArgumentException.class,
            () -> PlanSimulator.run(schedule, StageTimes.uniform(1, 1, 1)));
    assertEquals("the schedule cannot run: stage 0 waits for ever before its op 0", e.getMessage());
  }

  @Test
  void stagesThatWaitForEachOtherAreNamed() {
    Schedule good = OneForwardOneBackward.of(2, 2);
    long[] last = good.packed(1).clone(); // F1 B1 before F0 B0, but stage 0 wants B0 before F1
    long[][] programs = {
      {
        Schedule.pack(Pass.FORWARD, 0, 0),
        Schedule.pack(Pass.BACKWARD, 0, 0),
        Schedule.pack(Pass.FORWARD, 0, 1),
        Schedule.pack(Pass.BACKWARD, 0, 1)
      },
      {last[2], last[3], last[0], last[1]}
    };
    Exception e =
        assertThrows(
            IllegalArgumentException.class,
            () ->
                PlanSimulator.run(
                    new Schedule("wrong", 2, 2, programs), StageTimes.uniform(2, 1, 1)));
    assertEquals("the schedule cannot run: stage 0 waits for ever before its op 1", e.getMessage());
  }

  @Test
  void timesOfAnotherNumberOfStagesAreRefused() {
    Exception e =
        assertThrows(
            IllegalArgumentException.class,
            () -> PlanSimulator.run(GPipe.of(2, 2), StageTimes.uniform(3, 1, 1)));
    assertTrue(String.valueOf(e.getMessage()).contains("times=3, schedule=2"), e.getMessage());
  }

  /**
   * The distribution behind the figures of {@code docs/papers.md}: forward passes between half and
   * one and a half of their mean, backward passes twice as long.
   */
  @Test
  void estimatesOfUnevenPipelinesAreOffByAsMuchAsStated() {
    SplittableRandom random = new SplittableRandom(2021);
    double published = 0;
    double corrected = 0;
    double pipewright = 0;
    int pipelines = 2000;
    for (int n = 0; n < pipelines; n++) {
      int stages = random.nextInt(1, 7);
      int microBatches = 4 << random.nextInt(4); // 4 to 32
      double[] forward = random.doubles(stages, 0.5, 1.5).toArray();
      double[] backward = Arrays.stream(forward).map(seconds -> 2 * seconds).toArray();
      double[] none = new double[stages];
      int[] inFlight = WarmUp.A.inFlight(stages, microBatches);
      Pipelines uneven = new Pipelines(forward, backward, none, none, none, inFlight, microBatches);
      double truth = simulated(uneven, WarmUp.A);
      published += Math.abs(uneven.seconds(PivotFormula.PUBLISHED) / truth - 1) / pipelines;
      corrected += Math.abs(uneven.seconds(PivotFormula.CORRECTED) / truth - 1) / pipelines;
      pipewright += Math.abs(uneven.seconds(new PathFormula()) / truth - 1) / pipelines;
    }
    assertEquals(0.076, published, 0.004);
    assertEquals(0.031, corrected, 0.002);
    assertTrue(pipewright < 0.005, "pipewright=" + pipewright);
  }
}
