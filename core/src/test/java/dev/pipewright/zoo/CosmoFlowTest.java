package dev.pipewright.zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** CosmoFlow against the files that ParaDL's authors published. */
class CosmoFlowTest {
  @Test
  void theLargeCubeHasTheOutputsOfTheFile() throws IOException {
    assertEquals(outputsOf("COSMOFLOW.net"), outputs(CosmoFlow.cosmoFlow512()));
  }

  /** Even kernels, padded on both sides: one plane more, which the pooling cuts off. */
  @Test
  void theMiddleCubeHasTheOutputsOfTheFileButForTwoEvenKernels() throws IOException {
    List<String> published = outputsOf("COSMOFLOW.net_256");
    assertEquals("256×8×8×8", published.set(8, "256×9×9×9"));
    assertEquals("256×4×4×4", published.set(10, "256×5×5×5"));
    assertEquals(published, outputs(CosmoFlow.cosmoFlow256()));
  }

  /** The weights of the file, which counts no biases. */
  @Test
  void allCubesHaveTheWeightsOfTheFile() throws IOException {
    long weights = 0;
    for (String[] line : lines("COSMOFLOW.net")) {
      List<Integer> filter = extents(line[2]);
      boolean trained = line[0].startsWith("CONV") || line[0].startsWith("FC");
      weights += trained ? filter.stream().mapToLong(x -> x).reduce(1, (a, b) -> a * b) : 0;
    }
    for (int size : new int[] {128, 256, 512}) {
      LayerGraph graph = ModelsTest.model("cosmoflow-" + size).graph();
      assertEquals(weights, graph.parameters() - biases(graph));
    }
  }

  private static long biases(LayerGraph graph) {
    return graph.layers().stream()
        .filter(layer -> layer.parameters() > 0)
        .mapToLong(layer -> layer.output().orElseThrow().extent(0))
        .sum();
  }

  private static List<String> outputs(LayerGraph graph) {
    return graph.layers().stream()
        .filter(layer -> !(layer.operator() instanceof Operator.Input))
        .map(Layer::output)
        .map(shape -> shape.orElseThrow().toString())
        .collect(Collectors.toList());
  }

  /** Outputs of convolutions, poolings and fully connected layers, in order. */
  private static List<String> outputsOf(String file) throws IOException {
    List<String> outputs = new ArrayList<>();
    for (String[] line : lines(file)) {
      if (!line[0].equals("RELU")) {
        String shape =
            extents(line[3]).stream().map(String::valueOf).collect(Collectors.joining("×"));
        outputs.add(line[0].startsWith("FC") ? shape.replace("×1×1×1", "") : shape);
      }
    }
    return outputs;
  }

  private static List<Integer> extents(String text) {
    return Arrays.stream(text.strip().split("x", -1)).map(Integer::valueOf).toList();
  }

  private static List<String[]> lines(String file) throws IOException {
    @Nullable String folder = System.getProperty("reference.dir");
    assumeTrue(folder != null, "the system property reference.dir is not set");
    Path path = Path.of(String.valueOf(folder), "paradl", file);
    assumeTrue(Files.exists(path), path + " is not there");
    return Files.readAllLines(path).stream()
        .map(line -> line.split("\\|", -1))
        .filter(fields -> fields.length >= 4)
        .toList();
  }
}
