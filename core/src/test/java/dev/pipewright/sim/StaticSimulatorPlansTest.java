package dev.pipewright.sim;

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
import dev.pipewright.schedule.PipelinePolicy;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.StepEnd;
import dev.pipewright.schedule.search.OncePerStepTimes;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.sim.Conditions.Transfers;
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

class StaticSimulatorPlansTest {
  private static final Conditions QUEUED = Conditions.of(Transfers.QUEUED);

  private static OpTimes times(Pipelines pipeline) {
    double[] none = new double[pipeline.stages()];
    return OpTimes.whole(pipeline.forward(), pipeline.backward(), pipeline.there(), pipeline.back())
        .withStep(new OncePerStepTimes(none, pipeline.tail(), none, none));
  }

  private static OpTimes uniform(int stages, double forward, double backward) {
    return OpTimes.equal(stages, forward, backward, 0, 0);
  }

  private static Run run(Schedule schedule, OpTimes times) {
    return StaticSimulator.run(StepEnd.of(schedule), times, QUEUED);
  }

  private static double simulated(Pipelines pipeline, PipelinePolicy policy) {
    Schedule schedule = policy.schedule(pipeline.microBatches(), pipeline.inFlight());
    return run(schedule, times(pipeline)).makespan();
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "1, 7", "2, 2", "4, 4", "4, 16", "6, 3", "8, 8", "5, 32"})
  void evenPipelinesTakeOnePassPerMicroBatchAndStageBeyondTheFirst(int stages, int microBatches) {
    OpTimes times = uniform(stages, 1, 2);
    double closed = (microBatches + stages - 1) * 3;
    for (PipelinePolicy policy : PipelinePolicy.values()) {
      int[] inFlight = policy.inFlight(stages, microBatches);
      Schedule schedule = policy.schedule(microBatches, inFlight);
      assertEquals(closed, run(schedule, times).makespan(), 1e-12, policy.name());
      var even = even(stages, microBatches, inFlight);
      assertEquals(closed, even.seconds(new PathFormula()), 1e-12, policy.name());
    }
  }

  private static Pipelines even(int stages, int microBatches, int[] inFlight) {
    double[] none = new double[stages];
    OpTimes times = uniform(stages, 1, 2);
    return new Pipelines(times.forward(), times.input(), none, none, none, inFlight, microBatches);
  }

  @RepeatedTest(value = 300, name = "seed {currentRepetition}")
  void thePathFormulaNeverExceedsTheSimulation(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int stages = random.nextInt(1, 7);
    int microBatches = random.nextInt(4, 33);
    Pipelines pipeline = Pipelines.random(random, stages, microBatches);
    for (PipelinePolicy policy : PipelinePolicy.values()) {
      neverExceeds(pipeline.with(policy.inFlight(stages, microBatches)), policy);
    }
    neverExceeds(pipeline.descending(), PipelinePolicy.A); // as little in flight as memory allows
    Pipelines few = Pipelines.random(random, stages, random.nextInt(1, 5));
    neverExceeds(few.with(PipelinePolicy.B.inFlight(stages, few.microBatches())), PipelinePolicy.B);
  }

  private static void neverExceeds(Pipelines pipeline, PipelinePolicy policy) {
    double estimate = pipeline.seconds(new PathFormula());
    double simulated = simulated(pipeline, policy);
    assertTrue(
        estimate <= simulated * (1 + 1e-12),
        () -> policy + ": estimate " + estimate + " > simulated " + simulated);
  }

  @RepeatedTest(value = 300, name = "seed {currentRepetition}")
  void agreesWithIterationToAFixedPoint(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int stages = random.nextInt(1, 6);
    int microBatches = random.nextInt(1, 9);
    Pipelines pipeline = Pipelines.random(random, stages, microBatches);
    Schedule schedule = randomSchedule(random, stages, microBatches);
    Run run = run(schedule, times(pipeline));
    FixedPoint truth = new FixedPoint(schedule, times(pipeline));
    for (int stage = 0; stage < stages; stage++) {
      for (int i = 0; i < microBatches; i++) {
        assertEquals(truth.end("F", stage, i), end(run, Pass.FORWARD, stage, i), 1e-12);
        assertEquals(truth.end("B", stage, i), end(run, Pass.BACKWARD, stage, i), 1e-12);
        if (stage > 0) {
          assertEquals(truth.end("there", stage - 1, i), run.activationAt(stage, i), 1e-12);
        }
        if (stage < stages - 1) {
          assertEquals(truth.end("back", stage, i), run.gradientAt(stage, i), 1e-12);
        }
      }
    }
    assertEquals(truth.makespan(), run.makespan(), 1e-12);
  }

  private static double end(Run run, Pass pass, int stage, int microBatch) {
    int at = run.schedule().program(stage).indexOf(new Op(pass, stage, microBatch));
    return run.end(stage, at);
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
    private final OpTimes times;

    FixedPoint(Schedule schedule, OpTimes times) {
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
          add(task, (forward ? times.forward() : times.input())[stage], device);
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
          double tail = times.step().reduce()[task.stage] + times.step().update()[task.stage];
          makespan = Math.max(makespan, end.get(task) + tail);
        }
      }
      return makespan;
    }
  }

  @Test
  void transfersOfOneDirectionQueueAndThoseOfTheOtherDoNotWait() {
    OpTimes times =
        OpTimes.whole(
            new double[] {1, 1}, new double[] {1, 1}, new double[] {3, 0}, new double[] {2, 0});
    Run run = run(GPipe.of(2, 2), times);
    assertEquals(4, run.activationAt(1, 0));
    assertEquals(7, run.activationAt(1, 1));
    assertEquals(11, run.gradientAt(0, 0));
    assertEquals(13, run.gradientAt(0, 1));
    assertEquals(14, run.makespan());
  }

  @Test
  void theTailOfTheSlowestStageEndsTheStep() {
    double[] none = new double[2];
    OpTimes times =
        uniform(2, 1, 1)
            .withStep(
                new OncePerStepTimes(none, new double[] {1, 5}, none, new double[] {0.5, 0.25}));
    Run run = run(GPipe.of(2, 1), times);
    assertEquals(4, end(run, Pass.BACKWARD, 0, 0));
    assertEquals(3, end(run, Pass.BACKWARD, 1, 0));
    assertEquals(3 + 5 + 0.25, run.makespan());
  }

  @Test
  void aBackwardPassBeforeItsForwardPassNeverRuns() {
    long[][] programs = {
      {Schedule.pack(Pass.BACKWARD, 0, 0), Schedule.pack(Pass.FORWARD, 0, 0)},
    };
    Schedule schedule = new Schedule("wrong", 1, 1, programs);
    Exception e =
        assertThrows(IllegalArgumentException.class, () -> run(schedule, uniform(1, 1, 1)));
    assertEquals("rank 0 runs B0 of stage 0 before F0 of stage 0, which it needs", e.getMessage());
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
    Schedule schedule = new Schedule("wrong", 2, 2, programs);
    OpTimes times = uniform(2, 1, 1);
    Exception e = assertThrows(IllegalArgumentException.class, () -> run(schedule, times));
    assertEquals(
        "rank 0 waits for ever before B0 of stage 0: it needs B0 of stage 1, which rank 1 runs after"
            + " F1 of stage 1; that needs F1 of stage 0, which rank 0 runs after B0 of stage 0",
        e.getMessage());
    Exception other =
        assertThrows(
            IllegalArgumentException.class,
            () -> EventSimulator.run(schedule, times, Conditions.PLAIN));
    assertEquals(e.getMessage(), other.getMessage());
  }

  @Test
  void timesOfAnotherNumberOfStagesAreRefused() {
    Exception e =
        assertThrows(IllegalArgumentException.class, () -> run(GPipe.of(2, 2), uniform(3, 1, 1)));
    assertTrue(String.valueOf(e.getMessage()).contains("times=3, stages=2"), e.getMessage());
  }

  /**
   * The distribution of the figures of {@code bench/results/formula-accuracy.md}: forward passes
   * between half and one and a half of their mean, backward passes twice as long.
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
      int[] inFlight = PipelinePolicy.A.inFlight(stages, microBatches);
      Pipelines uneven = new Pipelines(forward, backward, none, none, none, inFlight, microBatches);
      double truth = simulated(uneven, PipelinePolicy.A);
      published += Math.abs(uneven.seconds(PivotFormula.PUBLISHED) / truth - 1) / pipelines;
      corrected += Math.abs(uneven.seconds(PivotFormula.CORRECTED) / truth - 1) / pipelines;
      pipewright += Math.abs(uneven.seconds(new PathFormula()) / truth - 1) / pipelines;
    }
    assertEquals(0.076, published, 0.004);
    assertEquals(0.031, corrected, 0.002);
    assertTrue(pipewright < 0.005, "pipewright=" + pipewright);
  }
}
