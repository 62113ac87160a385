package dev.pipewright.zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Samples;
import java.util.OptionalInt;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SamplesTest {
  @ParameterizedTest
  @CsvSource({
    "resnet-50, IMAGES, -1",
    "vit-b-16, IMAGES, -1",
    "amoebanet-36, IMAGES, -1",
    "cosmoflow-128, VOLUMES, -1",
    "mlp-8x1024, VECTORS, -1",
    "gpt-2, SEQUENCES, 1024",
    "bert-48, SEQUENCES, 384",
    "bert-large, SEQUENCES, 512",
    "gnmt-16, SEQUENCES, 50"
  })
  void theFirstLayerSaysWhatASampleIs(String model, Samples kind, int tokens) {
    LayerGraph graph = Models.find(model).orElseThrow().graph();
    assertEquals(kind, Samples.of(graph));
    assertEquals(tokens < 0 ? OptionalInt.empty() : OptionalInt.of(tokens), Samples.tokens(graph));
  }
}
