package dev.pipewright.runtime.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.model.Chain;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Work;
import dev.pipewright.runtime.net.ForwardPass;
import dev.pipewright.runtime.net.LossFunction;
import dev.pipewright.runtime.net.Network;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.net.Part;
import dev.pipewright.runtime.net.SharedStatistics;
import dev.pipewright.runtime.tensor.Gradients;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** A network learns from our data what holds for samples that it never saw. */
class LearningTest {
  private static final LayerGraph GRAPH =
      LayerGraph.chain(
          "small",
          List.of(
              layer("input", new Operator.Input(), 48, 0),
              layer("fc1", new Operator.Linear(48, 32, true), 32, 49 * 32),
              layer("relu", new Operator.Elementwise("relu"), 32, 0),
              layer("fc2", new Operator.Linear(32, 4, true), 4, 33 * 4)));

  private static Layer layer(String name, Operator operator, int out, long parameters) {
    return new Layer(name, operator, Optional.of(Shape.of(out)), parameters, out, out, Work.NONE);
  }

  @Test
  void whatANetworkWantsFollowsFromItsGraph() {
    DatasetRequirements wanted = DatasetRequirements.of(GRAPH, LossFunction.CROSS_ENTROPY);
    assertEquals(List.of(new DatasetRequirements.Input.Field(Shape.of(48))), wanted.inputs());
    assertEquals(new DatasetRequirements.Answer.Classes(4), wanted.answer());
    assertEquals(
        new DatasetRequirements.Answer.Quantities(4),
        DatasetRequirements.of(GRAPH, LossFunction.SQUARED_ERROR).answer());
  }

  @Test
  void theLossFallsAndHeldOutSamplesAreAnsweredRightly() {
    TrainingData data =
        DatasetSpec.parse("synthetic:samples=2000,seed=3")
            .open(DatasetRequirements.of(GRAPH, LossFunction.CROSS_ENTROPY));
    Sampler sampler = new Sampler(2000, 1);
    Part whole = new Network(Chain.of(GRAPH), 7).part(0, 3);
    assertEquals(4, whole.parameters().size()); // made here, so that no step's scope frees them
    double first = 0;
    double last = 0;
    for (int step = 0; step < 60; step++) {
      last = step(whole, data.training(), sampler.numbers(step * 50L, 50));
      first = step == 0 ? last : first;
    }
    assertTrue(first > 1.0, "first=" + first);
    assertTrue(last < 0.3, "last=" + last);
    try (Scope scope = new Scope()) {
      Batch batch = data.heldOut().read(LongStream.range(0, 200).toArray());
      List<Tensor> answers =
          Gradients.without(
              () -> whole.forward(List.of(), batch.inputs(), ForwardPass.answering()));
      long correct =
          Gradients.with(
              () -> LossFunction.CROSS_ENTROPY.judge(answers, batch.target(), 1.0 / 200).correct());
      assertTrue(correct > 180, "correct=" + correct);
      assertArrayEquals(new long[] {200, 48}, batch.inputs().get(0).shape());
    }
  }

  private static double step(Part whole, Dataset data, long[] numbers) {
    try (Scope scope = new Scope()) {
      Batch batch = data.read(numbers);
      List<Tensor> answers =
          whole.forward(
              List.of(), batch.inputs(), ForwardPass.training(false, SharedStatistics.OWN));
      LossFunction.Judged judged =
          LossFunction.CROSS_ENTROPY.judge(answers, batch.target(), 1.0 / numbers.length);
      Gradients.add(answers, judged.gradients());
      Gradients.without(() -> {
        for (Parameter parameter : whole.parameters()) {
          Tensor value = parameter.value();
          value.addInPlace(value.gradient().orElseThrow(), -0.3);
          value.clearGradient();
        }
        return null;
      });
      return judged.loss();
    }
  }
}
