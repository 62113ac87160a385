package dev.pipewright.runtime.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.runtime.Patterns;
import dev.pipewright.runtime.net.LossFunction;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.runtime.transport.Group;
import dev.pipewright.runtime.transport.Pending;
import dev.pipewright.runtime.transport.Transport;
import dev.pipewright.schedule.Op;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.cyclic.Cyclic;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Steps that flow give what their update rule gives when it is followed one by one. */
class AsyncPipelinesTest {
  private static final int STEPS = 7;
  private static final long WORD = 4; // bytes of a number
  private static final List<Cyclic.Form> FORMS =
      List.of(Cyclic.Form.SINGLE, Cyclic.Form.RING, Cyclic.Form.PYRAMID, Cyclic.Form.PIPELINE);
  private static final UpdateRule RULE = new UpdateRule(Optimizer.MOMENTUM, 0.3, 0.9, 0.01);

  @BeforeAll
  static void load() {
    Torch.start(1);
  }

  private static Training perceptron(UpdateRule rule) {
    return new Training(
        StrategiesTest.perceptron(5),
        LossFunction.CROSS_ENTROPY,
        rule,
        Training.randomClasses(StrategiesTest.CLASSES, StrategiesTest.WIDTH),
        Long.MAX_VALUE);
  }

  private static void same(
      Training training,
      AsyncPipeline asyncPipeline,
      UpdateRules.Rule rule,
      int workers,
      int batch,
      int steps) {
    LayerGraph graph = training.graph();
    List<StageLayers> cut = StrategiesTest.even(graph.size(), asyncPipeline.stages());
    int ranks = asyncPipeline.schedule(asyncPipeline.round()).ranks();
    var assignment = Assignment.of(asyncPipeline, cut, Collections.nCopies(ranks, workers), batch);
    Training.Result asynchronous = training.run(assignment, steps);
    Training.Result serial = UpdateRules.run(training, cut, rule, batch, steps);
    assertEquals(0, Training.difference(serial, asynchronous), 1e-5, asyncPipeline.name());
    assertTrue(serial.losses()[0] > 0.5, "a loss that is none");
    for (int i = 0; i < steps; i++) {
      assertEquals(
          serial.losses()[i], asynchronous.losses()[i], 1e-5, asyncPipeline.name() + " step " + i);
    }
  }

  @Test
  void pipeDreamStashesWeights() {
    for (int stages = 1; stages <= 4; stages++) {
      AsyncPipeline asyncPipeline =
          new AsyncPipeline.PipeDream(Collections.nCopies(stages, 1), false);
      same(perceptron(RULE), asyncPipeline, UpdateRules.stashing(stages), 1, 6, STEPS);
    }
  }

  @Test
  void pipeDreamWithOneVersionForAllStages() {
    AsyncPipeline asyncPipeline = new AsyncPipeline.PipeDream(List.of(1, 1, 1), true);
    same(perceptron(RULE), asyncPipeline, UpdateRules.verticalSync(3), 1, 6, STEPS);
  }

  @Test
  void replicasOfPipeDreamTakeTurns() {
    for (List<Integer> replicas :
        List.of(List.of(2), List.of(2, 1), List.of(1, 2), List.of(3, 2), List.of(2, 1, 2))) {
      AsyncPipeline asyncPipeline = new AsyncPipeline.PipeDream(replicas, false);
      same(perceptron(RULE), asyncPipeline, UpdateRules.inTurns(replicas), 1, 6, 12);
    }
    AsyncPipeline asyncPipeline = new AsyncPipeline.PipeDream(List.of(2, 2), true);
    same(perceptron(RULE), asyncPipeline, UpdateRules.inTurnsInSync(List.of(2, 2)), 1, 6, 12);
  }

  @Test
  void twoBuffers() {
    for (int stages = 1; stages <= 3; stages++) {
      for (int microBatches = stages; microBatches <= stages + 2; microBatches++) {
        AsyncPipeline asyncPipeline = new AsyncPipeline.DoubleBuffered(stages, microBatches, false);
        same(perceptron(RULE), asyncPipeline, UpdateRules.twoBuffers(microBatches), 1, 13, STEPS);
      }
    }
  }

  @Test
  void twoBuffersOfSeveralPipelines() {
    AsyncPipeline asyncPipeline = new AsyncPipeline.DoubleBuffered(2, 3, true);
    same(perceptron(RULE), asyncPipeline, UpdateRules.twoBuffers(3), 2, 13, STEPS);
    same(perceptron(RULE), asyncPipeline, UpdateRules.twoBuffers(3), 3, 10, STEPS);
  }

  @Test
  void patternsThatRepeat() {
    for (AsyncPipeline.Repeated asyncPipeline :
        List.of(Patterns.twoOnEach(), Patterns.dropping(3))) {
      same(
          perceptron(RULE),
          asyncPipeline,
          UpdateRules.twoBuffers(asyncPipeline.microBatches()),
          1,
          13,
          STEPS);
    }
  }

  @Test
  void cyclicInOnePlace() {
    cyclic(Cyclic.Form.SINGLE);
  }

  @Test
  void cyclicInAPipeline() {
    cyclic(Cyclic.Form.PIPELINE);
  }

  @Test
  void cyclicInARing() {
    cyclic(Cyclic.Form.RING);
  }

  @Test
  void cyclicInAPyramid() {
    cyclic(Cyclic.Form.PYRAMID);
  }

  @Test
  void cyclicWithOneCopyOfTheStates() {
    cyclic(Cyclic.Form.ZERO);
  }

  private static void cyclic(Cyclic.Form form) {
    for (int workers = 1; workers <= 4; workers++) {
      Cyclic cyclic = new Cyclic(workers);
      AsyncPipeline first = new AsyncPipeline.CyclicDataParallel(cyclic, form, Cyclic.Rule.V1);
      same(perceptron(RULE), first, UpdateRules.cyclicV1(workers), 1, 11, STEPS);
      AsyncPipeline second = new AsyncPipeline.CyclicDataParallel(cyclic, form, Cyclic.Rule.V2);
      same(perceptron(RULE), second, UpdateRules.cyclicV2(workers), 1, 11, STEPS);
    }
  }

  @Test
  void plainDescentAndDecay() {
    UpdateRule plain = new UpdateRule(Optimizer.SGD, 0.1, 0, 0.02);
    AsyncPipeline asyncPipeline = new AsyncPipeline.PipeDream(List.of(1, 1, 1), false);
    same(perceptron(plain), asyncPipeline, UpdateRules.stashing(3), 1, 6, STEPS);
    AsyncPipeline buffers = new AsyncPipeline.DoubleBuffered(2, 2, false);
    same(perceptron(plain), buffers, UpdateRules.twoBuffers(2), 1, 7, STEPS);
  }

  @Test
  void rulesDiffer() {
    Training training = perceptron(RULE);
    List<StageLayers> cut = StrategiesTest.even(training.graph().size(), 3);
    List<Training.Result> results =
        Stream.of(
                UpdateRules.synchronous(3),
                UpdateRules.twoBuffers(3),
                UpdateRules.cyclicV2(3),
                UpdateRules.stashing(3),
                UpdateRules.verticalSync(3))
            .map(rule -> UpdateRules.run(training, cut, rule, 12, STEPS))
            .toList();
    for (int i = 0; i < results.size(); i++) {
      for (int j = 0; j < i; j++) {
        double apart = Training.difference(results.get(i), results.get(j));
        assertTrue(apart > 3e-4, i + " and " + j + " are " + apart + " apart");
      }
    }
  }

  /** The paper's count: as many as micro-batches are under way, or two, or one. */
  @Test
  void noMoreVersionsThanNeeded() {
    assertEquals(
        List.of(4, 3, 2, 1), versions(new AsyncPipeline.PipeDream(List.of(1, 1, 1, 1), false)));
    assertEquals(List.of(3, 3, 3), versions(new AsyncPipeline.PipeDream(List.of(1, 1, 1), true)));
    assertEquals(List.of(2, 2, 1), versions(new AsyncPipeline.PipeDream(List.of(2, 1), false)));
    assertEquals(List.of(3, 1, 1), versions(new AsyncPipeline.PipeDream(List.of(1, 2), false)));
    assertEquals(List.of(2, 2, 2), versions(new AsyncPipeline.DoubleBuffered(3, 4, false)));
    assertEquals(List.of(2, 2, 2), versions(Patterns.dropping(3)));
    for (Cyclic.Form form : FORMS) {
      for (Cyclic.Rule rule : Cyclic.Rule.values()) {
        versions(new AsyncPipeline.CyclicDataParallel(new Cyclic(3), form, rule));
      }
    }
  }

  /** Of each rank and stage, at most; as many as {@link AsyncPipeline#versions} says. */
  private static List<Integer> versions(AsyncPipeline asyncPipeline) {
    Training training = perceptron(RULE);
    Assignment assignment = assignment(training.graph(), asyncPipeline, 6);
    List<Integer> found = Collections.synchronizedList(new ArrayList<>());
    training.run(
        assignment,
        12,
        UnaryOperator.identity(),
        new Training.Look() {
          @Override
          public void ended(Worker worker) {
            for (int stage : worker.stages()) {
              int most = worker.versions(stage);
              assertEquals(
                  asyncPipeline.versions(stage), most, asyncPipeline.name() + ", stage " + stage);
              found.add(most);
            }
          }
        });
    return found.stream().sorted(Comparator.reverseOrder()).toList();
  }

  private static Assignment assignment(LayerGraph graph, AsyncPipeline asyncPipeline, int batch) {
    int ranks = asyncPipeline.schedule(asyncPipeline.round()).ranks();
    List<StageLayers> cut = StrategiesTest.even(graph.size(), asyncPipeline.stages());
    return Assignment.of(asyncPipeline, cut, Collections.nCopies(ranks, 1), batch);
  }

  /** Of N² stages of N micro-batches no more than half and a little are held at once (§4.1). */
  @Test
  void onePlaceHoldsHalfOfTheActivations() {
    for (int workers = 1; workers <= 5; workers++) {
      int most = workers * (workers + 1) / 2;
      for (Cyclic.Rule rule : Cyclic.Rule.values()) {
        AsyncPipeline asyncPipeline =
            new AsyncPipeline.CyclicDataParallel(new Cyclic(workers), Cyclic.Form.SINGLE, rule);
        Training training = perceptron(RULE);
        training.run(
            assignment(training.graph(), asyncPipeline, 6),
            3,
            UnaryOperator.identity(),
            new Training.Look() {
              @Override
              public void ended(Worker worker) {
                assertEquals(most, worker.passes().most(), asyncPipeline.name());
              }
            });
      }
    }
  }

  private record Start(int microBatch, long time) {}

  /** Each backward pass of a stage waits for what the worker before hands on behind its own. */
  @Test
  void workersComeOneAfterAnother() {
    for (Cyclic.Rule rule : Cyclic.Rule.values()) {
      AsyncPipeline asyncPipeline =
          new AsyncPipeline.CyclicDataParallel(new Cyclic(3), Cyclic.Form.RING, rule);
      Training training = perceptron(RULE);
      Assignment assignment = assignment(training.graph(), asyncPipeline, 6);
      Assignment all = assignment.over(STEPS);
      List<List<Start>> stages = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
      int[] done = new int[assignment.size()]; // ops of each worker
      training.run(
          assignment,
          STEPS,
          UnaryOperator.identity(),
          new Training.Look() {
            @Override
            public void stepped(int worker, StepReport report) {
              for (int i = 0; i < report.started().length; i++) {
                long op = all.schedule().packed(worker)[done[worker]++];
                int stage = Schedule.stage(op);
                if (Schedule.pass(op) == Op.Pass.BACKWARD) {
                  int microBatch = all.inFlow(stage, Schedule.microBatch(op));
                  synchronized (stages) {
                    stages.get(stage % 3).add(new Start(microBatch, report.started()[i]));
                  }
                }
              }
            }
          });
      for (List<Start> stage : stages) {
        stage.sort(Comparator.comparingInt(Start::microBatch));
        assertEquals(3 * STEPS, stage.size());
        for (int i = 1; i < stage.size(); i++) {
          assertTrue(stage.get(i - 1).time() < stage.get(i).time(), rule + " pass " + i);
        }
      }
    }
  }

  /** §4.2: in a step N − 1 sums so far and N − 1 whole ones, point to point; §4.3: half of it. */
  @Test
  void sumsGoFromWorkerToWorker() {
    int workers = 3;
    Training training = perceptron(RULE);
    for (Cyclic.Form form : List.of(Cyclic.Form.RING, Cyclic.Form.PYRAMID)) {
      var asyncPipeline =
          new AsyncPipeline.CyclicDataParallel(new Cyclic(workers), form, Cyclic.Rule.V1);
      Assignment assignment = assignment(training.graph(), asyncPipeline, 6);
      boolean ring = form == Cyclic.Form.RING;
      assertEquals(ring ? workers : workers * (workers + 1) / 2, assignment.size());
      long wanted = 0;
      for (int stage = 0; stage < workers; stage++) {
        int others = ring ? workers - 1 : workers - stage - 1;
        wanted += 2L * others * bytes(training.graph(), assignment.stages().get(stage));
      }
      long before = sent(training, assignment, STEPS);
      assertEquals(wanted, sent(training, assignment, STEPS + 1) - before, asyncPipeline.name());
    }
  }

  private static long sent(Training training, Assignment assignment, int steps) {
    AtomicLong sent = new AtomicLong();
    training.run(assignment, steps, each -> new Counted(each, sent), new Training.Look() {});
    return sent.get();
  }

  private static long bytes(LayerGraph graph, StageLayers stage) {
    long bytes = 0;
    for (int at = stage.range().first(); at <= stage.range().last(); at++) {
      bytes += WORD * graph.layer(graph.topological()[at]).parameters();
    }
    return bytes;
  }

  /** Counts what is handed on, and knows no groups. */
  record Counted(Transport transport, AtomicLong sent) implements Transport {
    @Override
    public int worker() {
      return transport.worker();
    }

    @Override
    public int workers() {
      return transport.workers();
    }

    @Override
    public Pending send(Tensor tensor, int to, int tag) {
      boolean sum =
          tag >= Relay.FIRST_TAG && tensor.elements() > 1; // the rest says whose turn it is
      sent.addAndGet(sum ? tensor.bytes() : 0);
      return transport.send(tensor, to, tag);
    }

    @Override
    public Pending receive(Tensor into, int from, int tag) {
      return transport.receive(into, from, tag);
    }

    @Override
    public Group group(String name, List<Integer> members) {
      throw new AssertionError("a collective operation: " + name);
    }

    @Override
    public void close() {
      transport.close();
    }
  }
}
