package dev.pipewright.runtime.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.runtime.net.LossFunction;
import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.cyclic.Cyclic;
import dev.pipewright.zoo.Models;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Cyclic workers with one copy of each stage's states among them (arXiv:2403.08837, §4.4). */
class MigratingStatesTest {
  private static final int STEPS = 5;
  private static final UpdateRule RULE = new UpdateRule(Optimizer.MOMENTUM, 0.3, 0.9, 0.01);

  @BeforeAll
  static void load() {
    Torch.start(1);
  }

  private static Training training() {
    return new Training(
        StrategiesTest.perceptron(6),
        LossFunction.CROSS_ENTROPY,
        RULE,
        Training.randomClasses(StrategiesTest.CLASSES, StrategiesTest.WIDTH),
        Long.MAX_VALUE);
  }

  private static Assignment assignment(LayerGraph graph, int workers, Cyclic.Rule rule) {
    AsyncPipeline asyncPipeline =
        new AsyncPipeline.CyclicDataParallel(new Cyclic(workers), Cyclic.Form.ZERO, rule);
    List<StageLayers> cut = StrategiesTest.even(graph.size(), workers);
    return Assignment.of(asyncPipeline, cut, Collections.nCopies(workers, 1), 12);
  }

  /** Who uses a stage in a slot: worker, pass and step. */
  private record User(int worker, Pass pass, int step) {}

  /** The users of a stage in the order of the paper's slots. */
  private static List<User> users(Cyclic cyclic, int stage, int steps) {
    TreeMap<Long, User> users = new TreeMap<>(); // by slot
    for (int step = 0; step < steps; step++) {
      for (int worker = 0; worker < cyclic.workers(); worker++) {
        for (Pass pass : List.of(Pass.FORWARD, Pass.BACKWARD)) {
          users.put(cyclic.slot(pass, stage, worker, step), new User(worker, pass, step));
        }
      }
    }
    return List.copyOf(users.values());
  }

  /**
   * Tensors of the stage's size that go to another worker: parameters and momentum each time, the
   * sum of gradients between the first and the last backward pass of a step, and the parameters
   * before the last update while somebody still needs them.
   */
  private static int handedOn(Cyclic cyclic, Cyclic.Rule rule, int stage, int steps) {
    List<User> users = users(cyclic, stage, steps);
    int tensors = 0;
    int updates = 0;
    for (int i = 0; i + 1 < users.size(); i++) {
      User user = users.get(i);
      boolean last = user.pass() == Pass.BACKWARD && user.worker() == cyclic.workers() - 1;
      updates += last ? 1 : 0;
      boolean summing = user.pass() == Pass.BACKWARD && !last;
      for (int k = i - 1; !summing && !last && k >= 0; k--) {
        if (users.get(k).pass() == Pass.BACKWARD) {
          summing = users.get(k).worker() < cyclic.workers() - 1;
          break;
        }
      }
      boolean older = false;
      for (User later : users.subList(i + 1, users.size())) {
        int version = Math.max(0, later.step() - cyclic.delay(rule, later.worker(), stage));
        older |= version < updates;
      }
      if (users.get(i + 1).worker() != user.worker()) {
        tensors += 2 + (summing ? 1 : 0) + (older ? 1 : 0);
      }
    }
    return tensors;
  }

  private static long bytes(LayerGraph graph, StageLayers stage) {
    long bytes = 0;
    for (int at = stage.range().first(); at <= stage.range().last(); at++) {
      bytes += 4 * graph.layer(graph.topological()[at]).parameters();
    }
    return bytes;
  }

  /** No collective operation, and as many bytes as the paper's figure 2d has arrows. */
  @Test
  void statesGoFromUserToUser() {
    Training training = training();
    for (int workers = 2; workers <= 4; workers++) {
      Cyclic cyclic = new Cyclic(workers);
      for (Cyclic.Rule rule : Cyclic.Rule.values()) {
        Assignment assignment = assignment(training.graph(), workers, rule);
        long wanted = 0;
        for (int stage = 0; stage < workers; stage++) {
          int tensors =
              handedOn(cyclic, rule, stage, STEPS + 1) - handedOn(cyclic, rule, stage, STEPS);
          wanted += tensors * bytes(training.graph(), assignment.stages().get(stage));
        }
        long found = sent(training, assignment, STEPS + 1) - sent(training, assignment, STEPS);
        assertEquals(wanted, found, workers + " " + rule);
      }
    }
  }

  private static long sent(Training training, Assignment assignment, int steps) {
    AtomicLong sent = new AtomicLong();
    training.run(
        assignment,
        steps,
        each -> new AsyncPipelinesTest.Counted(each, sent),
        new Training.Look() {});
    return sent.get();
  }

  /** In between each stage is at home, whole and only there. */
  @Test
  void eachStageIsOnOneWorker() {
    Training training = training();
    for (Cyclic.Rule rule : Cyclic.Rule.values()) {
      Assignment assignment = assignment(training.graph(), 3, rule);
      List<Integer> stages = Collections.synchronizedList(new ArrayList<>());
      AtomicLong all = new AtomicLong();
      training.run(
          assignment,
          STEPS,
          UnaryOperator.identity(),
          new Training.Look() {
            @Override
            public void ended(Worker worker) {
              for (int stage : worker.stages()) {
                if (!worker.wholeState(stage).isEmpty()) {
                  stages.add(stage);
                }
              }
              all.addAndGet(worker.restingBytes());
            }
          });
      assertEquals(List.of(0, 1, 2), stages.stream().sorted().toList());
      long parameters = 0;
      for (StageLayers stage : assignment.stages()) {
        parameters += bytes(training.graph(), stage);
      }
      assertEquals(2 * parameters, all.get());
    }
  }

  /** Two go round while old ones are needed, of which none is kept for longer. */
  @Test
  void noMoreVersionsThanNeeded() {
    Training training = training();
    for (Cyclic.Rule rule : Cyclic.Rule.values()) {
      Assignment assignment = assignment(training.graph(), 3, rule);
      int[] most = new int[3];
      training.run(
          assignment,
          STEPS,
          UnaryOperator.identity(),
          new Training.Look() {
            @Override
            public void ended(Worker worker) {
              for (int stage : worker.stages()) {
                int own = worker.versions(stage);
                synchronized (most) {
                  most[stage] = Math.max(most[stage], own);
                }
              }
            }
          });
      AsyncPipeline asyncPipeline = assignment.asyncPipeline().orElseThrow();
      for (int stage = 0; stage < 3; stage++) {
        assertEquals(asyncPipeline.versions(stage), most[stage], rule + ", stage " + stage);
      }
    }
  }

  /** All workers get the parameters to answer with; afterwards they learn on from their states. */
  @Test
  void answersAreThoseOfTheRing() {
    Training training = training();
    for (Cyclic.Rule rule : Cyclic.Rule.values()) {
      Assignment zero = assignment(training.graph(), 3, rule);
      AsyncPipeline ring =
          new AsyncPipeline.CyclicDataParallel(new Cyclic(3), Cyclic.Form.RING, rule);
      Assignment other = Assignment.of(ring, zero.stages(), zero.workers(), zero.batch());
      for (int count : List.of(3, 17, 40)) {
        Score expected = ZeroTrainingTest.answers(training, other, count);
        Score found = ZeroTrainingTest.answers(training, zero, count);
        assertTrue(expected.loss() > 0.1);
        assertEquals(expected.loss(), found.loss(), 1e-6);
        assertEquals(expected.rows(), found.rows());
      }
    }
  }

  /** What is written of running averages is the first worker's, wherever a stage is at home. */
  @Test
  void averagesAreThoseOfTheFirstWorker() {
    String name = "resnet-18:size=32,classes=4,width=4";
    LayerGraph graph = Models.find(name).orElseThrow().graph();
    Training training = Training.synthetic(graph, RULE, 6, Long.MAX_VALUE);
    List<StageLayers> cut = NetworksTest.cut(graph, 3);
    List<Map<String, float[]>> found = new ArrayList<>();
    for (Cyclic.Form form : List.of(Cyclic.Form.RING, Cyclic.Form.ZERO)) {
      AsyncPipeline asyncPipeline =
          new AsyncPipeline.CyclicDataParallel(new Cyclic(3), form, Cyclic.Rule.V1);
      Map<String, float[]> averages = new ConcurrentHashMap<>();
      Map<Worker, Integer> workers = new ConcurrentHashMap<>();
      training.run(
          Assignment.of(asyncPipeline, cut, List.of(1, 1, 1), 6),
          2,
          UnaryOperator.identity(),
          new Training.Look() {
            @Override
            public void begins(int worker, Worker trainingWorker) {
              workers.put(trainingWorker, worker);
            }

            @Override
            public void ended(Worker worker) {
              boolean first = workers.getOrDefault(worker, -1) == 0;
              for (int stage : worker.stages()) {
                worker
                    .wholeState(stage)
                    .forEach((each, value) -> {
                      boolean average = each.endsWith(".mean") || each.endsWith(".variance");
                      if (average && (form == Cyclic.Form.ZERO || first)) {
                        averages.put(each, value.toFloats());
                      }
                    });
              }
            }
          });
      found.add(averages);
    }
    assertTrue(found.get(0).size() > 20);
    assertEquals(found.get(0).keySet(), found.get(1).keySet());
    found
        .get(0)
        .forEach((each, values) ->
            assertArrayEquals(values, found.get(1).getOrDefault(each, new float[0]), 1e-5f, each));
  }
}
