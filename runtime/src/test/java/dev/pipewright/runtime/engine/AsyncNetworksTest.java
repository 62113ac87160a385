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
import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.schedule.cyclic.Cyclic;
import dev.pipewright.zoo.Models;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Networks of the zoo in steps that flow, with batches that do not divide. */
class AsyncNetworksTest {
  private static final int BATCH = 13;

  private static final Map<AsyncPipeline, UpdateRules.Rule> FLOWS =
      Map.of(
          new AsyncPipeline.PipeDream(List.of(1, 1, 1), false),
          UpdateRules.stashing(3),
          new AsyncPipeline.DoubleBuffered(2, 3, false),
          UpdateRules.twoBuffers(3),
          Patterns.dropping(3),
          UpdateRules.twoBuffers(Patterns.dropping(3).microBatches()),
          cyclic(3, Cyclic.Form.SINGLE, Cyclic.Rule.V1),
          UpdateRules.cyclicV1(3),
          cyclic(3, Cyclic.Form.RING, Cyclic.Rule.V2),
          UpdateRules.cyclicV2(3),
          cyclic(3, Cyclic.Form.ZERO, Cyclic.Rule.V2),
          UpdateRules.cyclicV2(3));

  private static AsyncPipeline cyclic(int workers, Cyclic.Form form, Cyclic.Rule rule) {
    return new AsyncPipeline.CyclicDataParallel(new Cyclic(workers), form, rule);
  }

  @BeforeAll
  static void load() {
    Torch.start(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "cnn-64-128-256:size=8,classes=3",
        "resnet-18:size=64,classes=4,width=4",
        "vit:layers=3,hidden=16,heads=2,patch=8,size=16,classes=4",
        "gnmt:layers=4,hidden=16,steps=6,vocabulary=32",
        "gpt-untied:layers=3,hidden=16,heads=2,sequence=8,vocabulary=32",
      })
  void followTheRule(String name) {
    FLOWS.forEach((asyncPipeline, update) -> follows(name, asyncPipeline, update, 1, 3));
  }

  /** Its first and its last stage have one and the same table. */
  @Test
  void tablesOfTwoStages() {
    String gpt = "gpt:layers=3,hidden=16,heads=2,sequence=8,vocabulary=32";
    follows(
        gpt, new AsyncPipeline.PipeDream(List.of(1, 1, 1), false), UpdateRules.stashing(3), 1, 7);
    follows(
        gpt,
        new AsyncPipeline.PipeDream(List.of(1, 1, 1), true),
        UpdateRules.verticalSync(3),
        1,
        7);
    follows(gpt, new AsyncPipeline.DoubleBuffered(2, 3, false), UpdateRules.twoBuffers(3), 1, 7);
    follows(gpt, new AsyncPipeline.DoubleBuffered(2, 3, true), UpdateRules.twoBuffers(3), 2, 7);
    for (AsyncPipeline.Repeated asyncPipeline :
        List.of(Patterns.twoOnEach(), Patterns.endsTogether())) {
      follows(gpt, asyncPipeline, UpdateRules.twoBuffers(asyncPipeline.microBatches()), 1, 7);
    }
    for (Cyclic.Form form : List.of(Cyclic.Form.SINGLE, Cyclic.Form.RING, Cyclic.Form.PIPELINE)) {
      follows(gpt, cyclic(3, form, Cyclic.Rule.V1), UpdateRules.cyclicV1(3), 1, 7);
      follows(gpt, cyclic(3, form, Cyclic.Rule.V2), UpdateRules.cyclicV2(3), 1, 7);
    }
  }

  private static void follows(
      String name, AsyncPipeline asyncPipeline, UpdateRules.Rule update, int workers, int steps) {
    LayerGraph graph = Models.find(name).orElseThrow().graph();
    UpdateRule rule = new UpdateRule(Optimizer.MOMENTUM, 0.01, 0.9, 0.001);
    Training training = Training.synthetic(graph, rule, BATCH, Long.MAX_VALUE);
    List<StageLayers> cut = NetworksTest.cut(graph, asyncPipeline.stages());
    int ranks = asyncPipeline.schedule(asyncPipeline.round()).ranks();
    var assignment = Assignment.of(asyncPipeline, cut, Collections.nCopies(ranks, workers), BATCH);
    Training.Result asynchronous = training.run(assignment, steps);
    Training.Result serial = UpdateRules.run(training, cut, update, BATCH, steps);
    Training.Result moved =
        UpdateRules.run(
            training.with(NetworksTest.lastBits(training.feed())), cut, update, BATCH, steps);
    double allowed = Math.max(1e-5, 10 * Training.difference(serial, moved));
    String what = name + " " + asyncPipeline.name();
    assertTrue(allowed < 1e-2, what + ": rounding alone moves by " + allowed);
    assertEquals(serial.losses()[0], asynchronous.losses()[0], 1e-5, what);
    assertEquals(0, Training.difference(serial, asynchronous), allowed, what);
  }
}
