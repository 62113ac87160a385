package dev.pipewright.runtime.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Optimizer;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Reduction;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.Assignment.StageLayers;
import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.runtime.transport.StagedTransport;
import dev.pipewright.schedule.OneForwardOneBackward;
import dev.pipewright.zoo.Models;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Workers whose tensors travel by way of the host's memory train bit by bit as others do. */
class StagedTest {
  @BeforeAll
  static void load() {
    Torch.start(1);
  }

  @Test
  void pipelinesOfSplitStagesAndReplicas() {
    LayerGraph graph =
        Models.find("gpt:layers=2,hidden=16,heads=4,sequence=8,vocabulary=32")
            .orElseThrow()
            .graph();
    UpdateRule rule = UpdateRule.usual(Optimizer.MOMENTUM);
    Training training = Training.synthetic(graph, rule, 7, 20_000);
    Parallelism tensor =
        new Parallelism(Parallelism.Kind.TENSOR, List.of(2), Reduction.HIERARCHICAL);
    List<StageLayers> stages = NetworksTest.cut(graph, 2);
    stages.set(0, stages.get(0).with(tensor));
    Assignment assignment =
        new Assignment(OneForwardOneBackward.of(2, 3), stages, List.of(4, 2), 7, true);
    Training.Result direct = training.run(assignment, 3);
    Training.Result staged =
        training.run(assignment, 3, StagedTransport::new, new Training.Look() {});
    assertArrayEquals(direct.losses(), staged.losses());
    assertEquals(direct.parameters().keySet(), staged.parameters().keySet());
    direct
        .parameters()
        .forEach((name, values) ->
            assertArrayEquals(values, staged.parameters().getOrDefault(name, new float[0]), name));
  }
}
