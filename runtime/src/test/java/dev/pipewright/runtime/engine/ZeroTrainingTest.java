package dev.pipewright.runtime.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.Recompute;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.runtime.net.LossFunction;
import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.schedule.Chimera;
import dev.pipewright.schedule.GPipe;
import dev.pipewright.schedule.Interleaved;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.ZeroBubbleH1;
import dev.pipewright.zoo.Models;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Workers that share out states of a stage learn what one worker learns alone. */
class ZeroTrainingTest {
  private static final int STEPS = 3;

  @BeforeAll
  static void load() {
    Torch.start(1);
  }

  private static final List<ZeroStage> LEVELS =
      List.of(ZeroStage.OPTIMIZER, ZeroStage.GRADIENTS, ZeroStage.PARAMETERS);

  private static Training perceptron(int layers, UpdateRule rule, long bucketBytes) {
    return new Training(
        StrategiesTest.perceptron(layers),
        LossFunction.CROSS_ENTROPY,
        rule,
        Training.randomClasses(StrategiesTest.CLASSES, StrategiesTest.WIDTH),
        bucketBytes);
  }

  private static void same(Training training, Assignment assignment) {
    Schedule schedule = assignment.schedule();
    int all = schedule.microBatches() * schedule.placement().chains();
    int size = Chain.of(training.graph()).size();
    var serial = training.run(Assignment.serial(size, all, assignment.batch()), STEPS);
    var sharded = training.run(assignment, STEPS);
    String what = assignment.sharding() + " " + schedule.name() + " on " + assignment.workers();
    assertEquals(0, Training.difference(serial, sharded), 1e-5, what);
    assertTrue(serial.losses()[0] > 0.5, "a loss that is none");
    for (int i = 0; i < STEPS; i++) {
      assertEquals(serial.losses()[i], sharded.losses()[i], 1e-5, what);
    }
  }

  private static Assignment replicated(
      LayerGraph graph, int microBatches, int workers, int batch, boolean overlapped) {
    return new Assignment(
        OneForwardOneBackward.of(1, microBatches),
        StrategiesTest.even(graph.size(), 1),
        List.of(workers),
        batch,
        overlapped);
  }

  /** 605 numbers of two layers, or 24 · 25 of one, are no multiple of 2, 3, 4 or 7. */
  @ParameterizedTest
  @EnumSource(value = ZeroStage.class, names = "NOTHING", mode = EnumSource.Mode.EXCLUDE)
  void replicasOfAllNumbersWithEachRule(ZeroStage sharding) {
    for (Optimizer optimizer : List.of(Optimizer.SGD, Optimizer.MOMENTUM, Optimizer.ADAM)) {
      UpdateRule usual = UpdateRule.usual(optimizer);
      var rule = new UpdateRule(optimizer, usual.rate(), usual.momentum(), 0.02);
      Training training = perceptron(4, rule, 3000);
      for (int workers : List.of(2, 3, 7)) {
        for (boolean overlapped : new boolean[] {false, true}) {
          Assignment plain = replicated(training.graph(), 2, workers, 15, overlapped);
          same(training, plain.sharded(sharding));
        }
      }
    }
  }

  @Test
  void pipelinesWithDifferentReplication() {
    Training training = perceptron(6, UpdateRule.usual(Optimizer.MOMENTUM), 2000);
    int layers = training.graph().size();
    for (ZeroStage sharding : LEVELS) {
      for (List<Integer> workers : List.of(List.of(3, 2), List.of(2, 1, 3))) {
        int stages = workers.size();
        for (Schedule schedule :
            List.of(OneForwardOneBackward.of(stages, 4), ZeroBubbleH1.of(stages, 4))) {
          var cut = StrategiesTest.even(layers, stages);
          same(training, new Assignment(schedule, cut, workers, 19, true).sharded(sharding));
        }
      }
      var cut = StrategiesTest.even(layers, 4);
      for (Schedule schedule : List.of(Interleaved.of(2, 2, 4), GPipe.of(4, 3))) {
        List<Integer> workers = Collections.nCopies(schedule.ranks(), 2);
        same(training, new Assignment(schedule, cut, workers, 13, false).sharded(sharding));
      }
    }
  }

  @Test
  void bothDirectionsShareOutMomentsOnly() {
    Training training = perceptron(9, UpdateRule.usual(Optimizer.ADAM), 2000);
    var cut = StrategiesTest.even(training.graph().size(), 4);
    Schedule schedule = Chimera.of(4, 4);
    var assignment = new Assignment(schedule, cut, List.of(1, 1, 1, 1), 24, false);
    same(training, assignment.sharded(ZeroStage.OPTIMIZER));
    for (ZeroStage more : List.of(ZeroStage.GRADIENTS, ZeroStage.PARAMETERS)) {
      String why = assignment.sharded(more).shardingRefusal().orElseThrow();
      assertTrue(why.startsWith("two ranks hold each stage of chimera"), why);
    }
  }

  /** Who has no samples adds nothing, together with the others. */
  @Test
  void microBatchesThatLeaveSomeWithoutSamples() {
    Training training = perceptron(3, UpdateRule.usual(Optimizer.MOMENTUM), 2000);
    Assignment few = replicated(training.graph(), 3, 4, 7, true);
    same(training, few.sharded(ZeroStage.OPTIMIZER));
    same(training, few.sharded(ZeroStage.GRADIENTS));
    String why = few.sharded(ZeroStage.PARAMETERS).shardingRefusal().orElseThrow();
    assertTrue(why.contains("one of 2 samples leaves some of 4 without any"), why);
  }

  @Test
  void recomputation() {
    Training training = perceptron(6, UpdateRule.usual(Optimizer.MOMENTUM), 2000);
    List<StageLayers> stages =
        List.of(
            new StageLayers(new LayerRange(0, 4), Recompute.STAGE_INPUT, List.of()),
            new StageLayers(
                new LayerRange(5, 10),
                Recompute.SELECTIVE,
                List.of(new LayerRange(5, 6), new LayerRange(8, 9))));
    for (ZeroStage sharding : LEVELS) {
      for (Schedule schedule : List.of(OneForwardOneBackward.of(2, 4), ZeroBubbleH1.of(2, 4))) {
        var plain = new Assignment(schedule, stages, List.of(3, 2), 14, true);
        same(training, plain.sharded(sharding));
      }
    }
  }

  /** Parts of a layer are shared out among those that have the same one, whole layers among all. */
  @ParameterizedTest
  @EnumSource(value = ZeroStage.class, names = "NOTHING", mode = EnumSource.Mode.EXCLUDE)
  void splitStages(ZeroStage sharding) {
    LayerGraph graph = Models.find("cnn-64-128-256:size=12,classes=4").orElseThrow().graph();
    UpdateRule rule = UpdateRule.usual(Optimizer.MOMENTUM);
    Training training = Training.synthetic(graph, rule, 8, 20_000);
    int size = Chain.of(graph).size();
    Parallelism places = new Parallelism(Kind.SPATIAL, List.of(2, 1));
    for (Parallelism split :
        List.of(Parallelism.of(Kind.FILTER, 2), Parallelism.of(Kind.CHANNEL, 2), places)) {
      for (int replicas = 1; replicas <= 2; replicas++) {
        var stage = StageLayers.keeping(0, size - 1).with(split);
        var schedule = OneForwardOneBackward.of(1, 2);
        int workers = 2 * replicas;
        var assignment = new Assignment(schedule, List.of(stage), List.of(workers), 8, true);
        same(training, assignment.sharded(sharding));
      }
    }
  }

  /**
   * Networks with batch normalisation, branches, tied tables and recurrent layers. Deep ones make
   * more of rounding; they are allowed what {@link NetworksTest} allows them.
   */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "resnet-18:size=32,classes=4",
        "gpt:layers=2,hidden=16,heads=2,sequence=8,vocabulary=37",
        "bert:layers=2,hidden=16,heads=2,sequence=8,vocabulary=37",
        "gnmt:layers=4,hidden=16,steps=6,vocabulary=32",
      })
  void networks(String name) {
    int batch = 10;
    LayerGraph graph = Models.find(name).orElseThrow().graph();
    Training training =
        Training.synthetic(graph, UpdateRule.usual(Optimizer.MOMENTUM), batch, 20_000);
    int size = Chain.of(graph).size();
    for (List<Integer> workers : List.of(List.of(3), List.of(2, 3))) {
      int stages = workers.size();
      Assignment one = Assignment.serial(size, stages, batch);
      var serial = training.run(one, 1);
      var moved = training.with(NetworksTest.lastBits(training.feed())).run(one, 1);
      double allowed = Math.max(1e-5, 10 * Training.difference(serial, moved));
      for (ZeroStage sharding : LEVELS) {
        var schedule = OneForwardOneBackward.of(stages, stages);
        var cut = NetworksTest.cut(graph, stages);
        var assignment = new Assignment(schedule, cut, workers, batch, true).sharded(sharding);
        var sharded = training.run(assignment, 1);
        String what = name + " " + sharding + " on " + workers;
        assertTrue(Double.isFinite(serial.losses()[0]), what);
        assertEquals(serial.losses()[0], sharded.losses()[0], 1e-5, what);
        assertEquals(0, Training.difference(serial, sharded), allowed, what);
      }
    }
  }

  /** Both copies of a table change alike, in one stage and in two. */
  @Test
  void tiedTables() {
    String name = "gpt:layers=2,hidden=16,heads=2,sequence=8,vocabulary=37";
    LayerGraph graph = Models.find(name).orElseThrow().graph();
    Training training = Training.synthetic(graph, UpdateRule.usual(Optimizer.ADAM), 10, 20_000);
    for (List<Integer> workers : List.of(List.of(3), List.of(2, 3))) {
      int stages = workers.size();
      var serial = training.run(Assignment.serial(Chain.of(graph).size(), 2, 10), STEPS);
      for (ZeroStage sharding : LEVELS) {
        var schedule = OneForwardOneBackward.of(stages, 2);
        var cut = NetworksTest.cut(graph, stages);
        var assignment = new Assignment(schedule, cut, workers, 10, false).sharded(sharding);
        var sharded = training.run(assignment, STEPS);
        for (int step = 0; step < STEPS; step++) {
          assertEquals(serial.losses()[step], sharded.losses()[step], 1e-4, sharding.toString());
        }
      }
    }
  }

  /** Who only answers gets parameters, too, also with no samples of its own. */
  @Test
  void answersAreThoseOfOneWorker() {
    Training training = perceptron(6, UpdateRule.usual(Optimizer.MOMENTUM), 2000);
    int size = training.graph().size();
    for (int count : List.of(3, 8, 41)) {
      Score alone = answers(training, Assignment.serial(size, 2, 8), count);
      for (ZeroStage sharding : LEVELS) {
        var schedule = OneForwardOneBackward.of(2, 2);
        var cut = StrategiesTest.even(size, 2);
        var assignment = new Assignment(schedule, cut, List.of(4, 2), 8, false);
        Score found = answers(training, assignment.sharded(sharding), count);
        assertEquals(alone.loss(), found.loss(), 1e-5, sharding + " " + count);
        assertEquals(count, found.rows());
        assertEquals(alone.correct(), found.correct());
      }
    }
  }

  /** Of all workers, after some steps. */
  static Score answers(Training training, Assignment assignment, int count) {
    List<Score> all = Collections.synchronizedList(new ArrayList<>());
    training.run(
        assignment,
        STEPS,
        UnaryOperator.identity(),
        new Training.Look() {
          @Override
          public void ended(Worker worker) {
            all.add(worker.answer(training.feed(), count, training.objective()));
          }
        });
    return all.stream().reduce(Score.NONE, Score::plus);
  }
}
