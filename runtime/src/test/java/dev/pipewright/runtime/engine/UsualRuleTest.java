package dev.pipewright.runtime.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.plan.AsyncPipeline;
import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.zoo.Models;
import dev.pipewright.zoo.ZooModel;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A small network of each kind learns with the optimizer and the rate that `train` takes where
 * nothing is said. `Reproduce examples-learn` runs the examples of README and help themselves.
 */
class UsualRuleTest {
  private static final int LAST = 4; // steps whose mean loss counts

  @BeforeAll
  static void startAlone() {
    Torch.startAlone(1);
  }

  @AfterAll
  static void start() {
    Torch.start(1);
  }

  private static UpdateRule rule(ZooModel model) {
    return UpdateRule.usual(model.training().optimizer(), model.graph());
  }

  private static double[] losses(ZooModel model, Assignment assignment, int steps) {
    return Training.synthetic(model.graph(), rule(model), assignment.batch(), 1 << 25)
        .run(assignment, steps)
        .losses();
  }

  private static void learnt(String name, double[] losses, double share) {
    double last = Arrays.stream(losses).skip(losses.length - LAST).average().orElseThrow();
    String what = name + ": " + Arrays.toString(losses);
    assertTrue(last <= share * losses[0], what);
    assertTrue(Arrays.stream(losses).allMatch(loss -> loss < 3 * losses[0]), what);
  }

  /** The share of the first loss that the last ones may have. */
  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "mlp:layers=8,hidden=128,in=128,classes=10; 64; 20; 0.8",
        "cnn-64-128-256:size=16,classes=4; 16; 24; 0.8",
        "resnet-18:size=32,classes=4,width=8; 16; 30; 0.8",
        "vit:layers=2,hidden=32,heads=2,patch=4,size=16,classes=10; 16; 40; 0.8",
        "gpt:layers=2,hidden=32,heads=2,sequence=16,vocabulary=32; 16; 60; 0.9",
        "gpt-untied:layers=2,hidden=32,heads=2,sequence=16,vocabulary=32; 16; 60; 0.9",
        "bert:layers=2,hidden=32,heads=2,sequence=16,vocabulary=32; 16; 40; 0.9",
        "gnmt:layers=4,hidden=32,steps=6,vocabulary=16; 32; 80; 0.95",
        "cosmoflow:size=32,outputs=4; 8; 16; 0.9",
      })
  void aNetworkOfEachKindLearns(String name, int batch, int steps, double share) {
    ZooModel model = Models.find(name).orElseThrow();
    List<StageLayers> whole = NetworksTest.cut(model.graph(), 1);
    Assignment one =
        new Assignment(OneForwardOneBackward.of(1, 1), whole, List.of(1), batch, false);
    learnt(name, losses(model, one, steps), share);
  }

  /** Gradients of older parameters allow for less. */
  @Test
  void aPipelineWithoutAFlushLearns() {
    Torch.start(1); // a thread for each stage
    String name = "mlp:layers=8,hidden=128,in=128,classes=10";
    ZooModel model = Models.find(name).orElseThrow();
    List<StageLayers> cut = NetworksTest.cut(model.graph(), 4);
    AsyncPipeline asyncPipeline = new AsyncPipeline.DoubleBuffered(4, 4, false);
    learnt(
        name, losses(model, Assignment.of(asyncPipeline, cut, List.of(1, 1, 1, 1), 64), 40), 0.9);
    startAlone();
  }

  @Test
  void ratesAreLowerWhereNothingNormalisesConvolutionsAndForWideTransformers() {
    assertEquals(1e-3, usual(Optimizer.MOMENTUM, "cnn-64-128-256"));
    assertEquals(1e-3, usual(Optimizer.MOMENTUM, "cosmoflow-128"));
    assertEquals(1e-3, usual(Optimizer.MOMENTUM, "alexnet"));
    assertEquals(1e-4, usual(Optimizer.MOMENTUM, "vgg-16"));
    assertEquals(3e-4, usual(Optimizer.ADAM, "vgg-16"));
    assertEquals(0.01, usual(Optimizer.MOMENTUM, "resnet-18"));
    assertEquals(0.01, usual(Optimizer.MOMENTUM, "mlp-8x1024"));
    assertEquals(1e-3, usual(Optimizer.ADAM, "gpt-8x256"));
    assertEquals(3e-4, usual(Optimizer.ADAM, "gpt-2-medium"));
    assertEquals(1e-3, usual(Optimizer.ADAM, "vit:layers=2,hidden=64,heads=2"));
    assertEquals(0.01, usual(Optimizer.SGD, "cnn-64-128-256"));
  }

  private static double usual(Optimizer kind, String name) {
    LayerGraph graph = Models.find(name).orElseThrow().graph();
    return UpdateRule.usual(kind, graph).rate();
  }
}
