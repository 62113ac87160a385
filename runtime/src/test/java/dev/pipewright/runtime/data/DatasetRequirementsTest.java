package dev.pipewright.runtime.data;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.model.LayerGraph;
import dev.pipewright.runtime.net.LossFunction;
import dev.pipewright.zoo.Models;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DatasetRequirementsTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          mlp-8x1024    | images of 1024                          | one of 10 classes     | IMAGES
          resnet-18     | images of 3×224×224                     | one of 1000 classes   | IMAGES
          vit-b-16      | images of 3×224×224                     | one of 1000 classes   | IMAGES
          gpt-8x256     | 128 tokens of 1024                      | 128 tokens of 1024    | TOKENS
          bert-base     | 512 tokens of 30522                     | one of 768 classes    | TOKENS
          gnmt-16       | 50 tokens of 36560 and 50 tokens of 36560 | 50 tokens of 36560  | PAIRS
          cosmoflow-128 | images of 4×128×128×128                 | 4 quantities          | VOLUMES
          """)
  void theZoosNetworksGetTheDataThatSuitThem(
      String model, String read, String answer, SyntheticKind kind) {
    LayerGraph graph = Models.find(model).orElseThrow().graph();
    DatasetRequirements wanted = DatasetRequirements.of(graph, LossFunction.of(graph));
    assertEquals(read, new Fit("", wanted).read());
    assertEquals(answer, wanted.answer().toString());
    assertEquals(kind, SyntheticKind.of(wanted).orElseThrow());
    TrainingData data = DatasetSpec.parse("synthetic").open(wanted);
    assertEquals(10_000, data.training().samples());
    assertEquals(wanted.inputs().size(), data.heldOut().inputs(new long[] {0}).size());
  }
}
