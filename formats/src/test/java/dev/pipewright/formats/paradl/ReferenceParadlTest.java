package dev.pipewright.formats.paradl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.Link;
import dev.pipewright.formats.catalog.ModelFiles;
import dev.pipewright.formats.file.Refusal;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.model.Chain;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.units.Bytes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The published inputs of ParaDL's oracle, and what its authors' program counts in them. */
class ReferenceParadlTest {
  private static final String ALEXNET = "ALEXNET_ImageNet_profall.net_sc";
  private static final String RESNET = "RESNET50_ImageNet_profall.net_sc";
  private static final String VGG = "VGG_ImageNet_profall.net_sc";
  private static final String COSMOFLOW = "COSMOFLOW.net";

  private static Path reference(String name) {
    @Nullable String folder = System.getProperty("reference.dir");
    assumeTrue(folder != null, "the system property reference.dir is not set");
    Path file = Path.of(String.valueOf(folder), "paradl", name);
    assumeTrue(Files.exists(file), "no reference file " + file);
    return file;
  }

  private static ModelFile read(String name) {
    return ModelFiles.read(reference(name), OptionalInt.empty(), Optional.empty());
  }

  private static long sum(LayerGraph graph, ToLongFunction<Layer> value) {
    return graph.layers().stream().mapToLong(value).sum();
  }

  private static Operator operator(LayerGraph graph, String name) {
    return graph.layers().stream()
        .filter(layer -> layer.name().equals(name))
        .map(Layer::operator)
        .findFirst()
        .orElseThrow();
  }

  /** The program leaves activation functions and normalisations out of its sums: in place. */
  private static boolean counts(Layer layer) {
    return !(layer.operator() instanceof Operator.Input
        || layer.operator() instanceof Operator.Normalization
        || layer.operator().equals(new Operator.Elementwise("relu")));
  }

  private static long elementsRead(LayerGraph graph, int layer) {
    return graph.layer(graph.predecessors(layer)[0]).outputElements();
  }

  @ParameterizedTest
  @ValueSource(strings = {ALEXNET, RESNET, COSMOFLOW})
  void totalsAreThoseOfTheAuthorsProgram(String name) {
    ModelFile model = read(name);
    LayerGraph graph = model.graph();
    long in =
        IntStream.range(0, graph.size())
            .filter(i -> counts(graph.layer(i)))
            .mapToLong(i -> elementsRead(graph, i))
            .sum();
    long out = sum(graph, layer -> counts(layer) ? layer.outputElements() : 0);
    double seconds =
        Arrays.stream(model.profile().seconds(Quantity.FORWARD, 1)).sum()
            + Arrays.stream(model.profile().seconds(Quantity.BACKWARD, 1)).sum();
    int runs = 0;
    for (JsonNode run : JsonMapper.shared().readTree(reference("script-results.json").toFile())) {
      if (run.at("/inputs/net").asString().equals(name)) {
        JsonNode totals = run.get("totals");
        assertEquals(totals.get("totalWeight").asLong(), graph.parameters());
        assertEquals(totals.get("totalIn").asLong(), in);
        assertEquals(totals.get("totalOut").asLong(), out);
        double expected = totals.get("totalComp").asDouble();
        assertEquals(expected, seconds, 1e-12 * expected);
        runs++;
      }
    }
    assertTrue(runs > 0, name);
  }

  @ParameterizedTest
  @CsvSource({
    ALEXNET + ", AlexNet, 1280000, 21, 62367776",
    RESNET + ", ResNet50, 1280000, 167, 22734016",
    VGG + ", VGG16, 1280000, 39, 169801408",
    COSMOFLOW + ", CosmoFlow, 1584, 26, 2128064",
  })
  void networks(String name, String model, long samples, int layers, long parameters) {
    ModelFile file = read(name);
    assertEquals(model, file.graph().name());
    assertEquals(samples, file.dataset().orElseThrow().samples());
    assertEquals(layers, file.graph().size());
    assertEquals(layers, Chain.of(file.graph()).size());
    assertEquals(parameters, file.graph().parameters());
  }

  @Test
  void geometryOfPublishedLayers() {
    List<Integer> ones = List.of(1, 1);
    var first = read(ALEXNET).graph().layer(1).operator();
    assertEquals(
        new Operator.Convolution(
            3, 96, List.of(11, 11), List.of(4, 4), List.of(0, 0), ones, 1, false),
        first);
    LayerGraph resnet = read(RESNET).graph();
    assertEquals(
        new Operator.Convolution(256, 128, ones, List.of(2, 2), List.of(0, 0), ones, 1, false),
        operator(resnet, "CONV_3a1"));
    LayerGraph vgg = read(VGG).graph();
    assertEquals(new Operator.Linear(512 * 8 * 8, 4096, false), operator(vgg, "FC6"));
    LayerGraph cosmoflow = read(COSMOFLOW).graph();
    List<Integer> threes = List.of(3, 3, 3);
    assertEquals(
        new Operator.Convolution(
            32, 64, threes, List.of(2, 2, 2), List.of(0, 0, 0), List.of(1, 1, 1), 1, false),
        operator(cosmoflow, "CONV_3"));
  }

  /**
   * Multiply-adds of a forward pass, published for images of 224 × 224: VGG-16 15.5e9, and somewhat
   * more for 226 × 226; ResNet-50 3.86e9 with the stride in the first convolution of a block, of
   * which the projections, which the file lacks, are 0.36e9. AlexNet is in one tower.
   */
  @ParameterizedTest
  @CsvSource({ALEXNET + ", 1.14e9", RESNET + ", 3.53e9", VGG + ", 16.0e9"})
  void arithmeticIsOfThePublishedOrder(String name, double multiplyAdds) {
    double flop =
        read(name).graph().layers().stream()
            .filter(layer -> layer.parameters() > 0)
            .mapToDouble(layer -> layer.work().forward())
            .sum();
    assertEquals(multiplyAdds, flop / 2, 0.02 * multiplyAdds);
  }

  @Test
  void theSmallCosmoFlowHasAMistypedLine(@TempDir Path folder) throws IOException {
    Path file = reference("COSMOFLOW.net_256");
    Refusal.assertRefused(
        "COSMOFLOW.net_256:8: RELU is element-wise, yet turns 32x2128x128x128 into 32x128x128x128;"
            + " write the same shape twice",
        file,
        ParadlNet::read);
    String right = Files.readString(file).replace("32x2128x", "32x128x");
    LayerGraph graph = ParadlNet.read(Refusal.file(folder, "right", right)).graph();
    assertEquals(read(COSMOFLOW).graph().parameters(), graph.parameters());
    List<Integer> ones = List.of(1, 1, 1);
    assertEquals( // an even kernel that keeps the extent: padded on one side
        new Operator.Convolution(128, 256, List.of(2, 2, 2), ones, ones, ones, 1, false),
        operator(graph, "CONV_5"));
  }

  @ParameterizedTest
  @CsvSource({
    "filter_alexnet.lc, " + ALEXNET + ", 5",
    "spatial_alexnet.lc, " + ALEXNET + ", 7",
    "filter_resnet.lc, " + RESNET + ", 49",
    "channel_resnet.lc, " + RESNET + ", 49",
    "spatial_resnet.lc, " + RESNET + ", 49",
    "spatial_cosmolow.lc, " + COSMOFLOW + ", 2",
  })
  void switches(String name, String net, int on) {
    LayerGraph graph = read(net).graph();
    boolean[] applies = ParadlSwitches.read(reference(name), graph);
    assertEquals(graph.size(), applies.length);
    assertFalse(applies[0]);
    assertTrue(applies[1]);
    assertEquals(on, IntStream.range(0, applies.length).filter(i -> applies[i]).count());
  }

  @Test
  void switchesOfAnotherNetworkAreRefused() {
    LayerGraph graph = read(ALEXNET).graph();
    Refusal.assertRefused(
        "filter_resnet.lc:1: \"CONV_1\" stands where the network has CONV1; write the layers in the"
            + " network's order",
        reference("filter_resnet.lc"),
        file -> ParadlSwitches.read(file, graph));
  }

  @Test
  void thePlatform() {
    Cluster cluster = ParadlPlatform.read(reference("ABCI.plat"));
    assertEquals("ABCI", cluster.name());
    assertEquals(4096, cluster.size());
    assertEquals(1024, cluster.machines());
    assertEquals(new Bytes(16_000_000_000L), cluster.device(0).memory());
    assertEquals(7.8e12, cluster.device(0).fp32().value());
    assertEquals(Link.of(500e-9, 12.5e9), cluster.levels().get(1).collective());
  }
}
