package dev.pipewright.zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.model.Chain;
import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Parameters and boundaries against what was published about the networks: DAPPLE (PPoPP 2021,
 * arXiv:2007.01045), Tables I, II and VIII, and the exact counts of the architectures.
 *
 * <p>Table II counts some networks in millions and some in 2^20: GNMT-16, BERT-48 and AmoebaNet-36
 * agree with 10^6, XLNet-36, ResNet-50 and VGG-19 with 2^20.
 */
class PublishedSizesTest {
  private static final double MILLION = 1e6;
  private static final double MEBI = 1 << 20;

  private static LayerGraph graph(String name) {
    return ModelsTest.model(name).graph();
  }

  private static int place(LayerGraph graph, String layer) {
    return Objects.requireNonNull(graph.index().get(layer), layer);
  }

  private static void assertWithin(double share, double expected, double actual) {
    assertEquals(expected, actual, share * expected);
  }

  @ParameterizedTest
  @CsvSource({"gnmt-16, 291", "bert-48, 640", "amoebanet-36, 933"})
  void millionsOfParametersAreThoseOfTableTwo(String name, double millions) {
    assertWithin(0.02, millions, graph(name).parameters() / MILLION);
  }

  @ParameterizedTest
  @CsvSource({"xlnet-36, 500", "resnet-50, 24.5", "vgg-19, 137"})
  void binaryMillionsOfParametersAreThoseOfTableTwo(String name, double mebi) {
    assertWithin(0.02, mebi, graph(name).parameters() / MEBI);
  }

  @ParameterizedTest
  @CsvSource({
    "vgg-19, 143667240",
    "resnet-50, 25557032",
    "gnmt-16, 290747088", // as in PipeDream's profile
    "bert-48, 637451264", // as in DAPPLE's profile
    "bert-24, 335141888", // BERT-large without the heads of its pre-training
    "gpt, 354823168", // GPT-2 medium
    "alexnet, 61100840", // images: as in torchvision
    "vgg-16, 138357544",
    "resnet-18, 11689512",
    "resnet-34, 21797672",
    "resnet-101, 44549160",
    "resnet-152, 60192808",
    "inception-v3, 23834568", // without the auxiliary classifier's 3,326,696
    "vit-b-16, 86567656",
    "bert-base, 109482240", // with the pooler
    "bert-large, 335141888",
    "gpt-2, 124439808", // the head shares the embedding's weights
    "gpt-2-medium, 354823168",
    "gpt-2-large, 774030080",
    "gpt-2-xl, 1557611200"
  })
  void parametersAreExactlyThoseOfTheArchitecture(String name, long parameters) {
    assertEquals(parameters, graph(name).parameters());
  }

  /** Products of a perceptron and its classifier, each with biases. */
  @ParameterizedTest
  @CsvSource({"8, 1024, 1024, 10", "1, 7, 5, 3", "3, 16, 9, 2"})
  void perceptronsHaveTheParametersOfTheirProducts(int layers, int hidden, int in, int classes) {
    long expected =
        (in + 1L) * hidden + (layers - 1) * (hidden + 1L) * hidden + (hidden + 1L) * classes;
    String name = "mlp:layers=%d,hidden=%d,in=%d,classes=%d".formatted(layers, hidden, in, classes);
    assertEquals(expected, graph(name).parameters());
  }

  /** What does not depend on the image is as published; the classifier follows from the classes. */
  @ParameterizedTest
  @CsvSource({
    "resnet-18, 32, 10, 11689512, 512",
    "resnet-34, 64, 7, 21797672, 512",
    "resnet-50, 32, 10, 25557032, 2048",
    "resnet-152, 96, 3, 60192808, 2048"
  })
  void imagesOfAnySizeChangeTheClassifierOfResNetOnly(
      String name, int size, int classes, long published, int features) {
    long expected = published - (features + 1L) * (1000 - classes);
    String sized = "%s:size=%d,classes=%d".formatted(name, size, classes);
    assertEquals(expected, graph(sized).parameters());
  }

  /** The first fully connected layer reads 512 channels of a map that is a 32nd of the image. */
  @ParameterizedTest
  @CsvSource({"vgg-16, 32, 10, 138357544", "vgg-19, 64, 10, 143667240", "vgg-16, 70, 3, 138357544"})
  void imagesOfAnySizeChangeTwoFullyConnectedLayersOfVgg(
      String name, int size, int classes, long published) {
    long map = (long) (size / 32) * (size / 32);
    long expected = published - 512L * 4096 * (49 - map) - 4097L * (1000 - classes);
    String sized = "%s:size=%d,classes=%d".formatted(name, size, classes);
    assertEquals(expected, graph(sized).parameters());
  }

  @ParameterizedTest
  @CsvSource({"12, 768, 12, 16, 224, 1000", "2, 24, 3, 4, 12, 5", "6, 192, 3, 4, 32, 10"})
  void visionTransformersHaveTheParametersOfTheFormula(
      int layers, long h, int heads, int patch, int size, int classes) {
    long tokens = (long) (size / patch) * (size / patch) + 1;
    long expected =
        (3L * patch * patch + 1) * h // patches
            + (tokens + 1) * h // positions, class token
            + layers * (12 * h * h + 13 * h)
            + 2 * h // last normalisation
            + (h + 1) * classes;
    String name =
        "vit:layers=%d,hidden=%d,heads=%d,patch=%d,size=%d,classes=%d"
            .formatted(layers, h, heads, patch, size, classes);
    assertEquals(expected, graph(name).parameters());
  }

  /** Two tables, LSTM layers with two biases, the attention, a classifier with biases. */
  @ParameterizedTest
  @CsvSource({"16, 1024, 50, 36560", "4, 128, 16, 1000", "6, 12, 7, 20"})
  void translatorsHaveTheParametersOfTheFormula(int layers, long h, int steps, long vocabulary) {
    int half = layers / 2;
    long cell = 4 * h * 2 * h + 8 * h;
    long wide = 4 * h * 3 * h + 8 * h;
    long encoder = 2 * cell + wide + (half - 2) * cell;
    long decoder = cell + (half - 1) * wide;
    long attention = 2 * h * h + h;
    long expected = 2 * vocabulary * h + encoder + decoder + attention + (h + 1) * vocabulary;
    String name =
        "gnmt:layers=%d,hidden=%d,steps=%d,vocabulary=%d".formatted(layers, h, steps, vocabulary);
    assertEquals(expected, graph(name).parameters());
  }

  /** Weights and biases of six convolutions and a classifier over a map of an eighth. */
  @ParameterizedTest
  @CsvSource({"32, 10, 4", "20, 3, 2"})
  void smallConvolutionsHaveTheParametersOfTheirFilters(int size, int classes, int edge) {
    long filters = 0;
    int[] channels = {3, 64, 64, 128, 128, 256, 256};
    for (int i = 1; i < channels.length; i++) {
      filters += (9L * channels[i - 1] + 1) * channels[i];
    }
    long expected = filters + (256L * edge * edge + 1) * classes;
    String name = "cnn-64-128-256:size=%d,classes=%d".formatted(size, classes);
    assertEquals(expected, graph(name).parameters());
  }

  /** Embedding and positions, eight blocks, normalisation, a product with biases. */
  @Test
  void theSmallLanguageModelHasAHeadOfItsOwn() {
    long h = 256;
    long expected = (1024 + 128) * h + 8 * (12 * h * h + 13 * h) + 2 * h + (h + 1) * 1024;
    assertEquals(expected, graph("gpt-8x256").parameters());
  }

  /** Later layers are the same at powers of two: fewer poolings, as many parameters. */
  @ParameterizedTest
  @CsvSource({"16, 4", "32, 4", "64, 4", "128, 4", "256, 4", "32, 9"})
  void cubesOfEverySizeHaveTheSameFilters(int size, int outputs) {
    long expected = 2_131_252 + 257L * (outputs - 4);
    String name = "cosmoflow:size=%d,outputs=%d".formatted(size, outputs);
    assertEquals(expected, graph(name).parameters());
  }

  /** The profile has the weights of products only: 932,783,945 without scales and shifts. */
  @Test
  void amoebaNetHasTheProductsOfTheProfileAndLittleMore() {
    assertWithin(0.001, 932_783_945, (double) graph("amoebanet-36").parameters());
  }

  @ParameterizedTest
  @CsvSource({"106, 1.4, 21.9", "215, 2.7, 43.8", "428, 5.5, 88.2"})
  void deepBertIsAsLargeAsTableEightHasIt(int layers, double billions, double gigabytes) {
    ZooModel model = ModelsTest.model("bert-" + layers);
    long parameters = model.graph().parameters();
    assertWithin(0.025, billions, parameters / 1e9); // two digits
    assertWithin(
        0.02, gigabytes, (double) parameters * model.training().staticBytesPerParameter() / 1e9);
  }

  /** Table I counts a boundary there and back: activation and its gradient, in 10^6 bytes. */
  @ParameterizedTest
  @CsvSource({
    "gnmt-16, encoder-8, 26, 0.02",
    "bert-48, block-24, 8.8, 0.02",
    "xlnet-36, block-18, 4.2, 0.02",
    "amoebanet-36, cell-13, 11.2, 0.02",
    "vgg-19, pool5, 6, 0.08" // one digit
  })
  void boundariesAreThoseOfTableOne(String name, String last, double megabytes, double share) {
    ZooModel model = ModelsTest.model(name);
    double bytes = 2 * crossing(model.graph(), last) * 4 * model.samples();
    assertWithin(share, megabytes, bytes / MILLION);
  }

  /** Elements of one sample that cross a cut after a layer. */
  private static double crossing(LayerGraph graph, String last) {
    Chain chain = Chain.of(graph);
    double[] elements = new double[graph.size()];
    for (int i = 0; i < elements.length; i++) {
      elements[i] = graph.layer(i).outputElements();
    }
    int position = 0;
    while (chain.layers(-1, position).length <= place(graph, last)) {
      position++;
    }
    return chain.crossing(elements)[position];
  }

  /**
   * BERT-48 is left out: 637 million parameters in 32 bits are 2.55 GB, the table has 2.8 and the
   * text 2.6.
   */
  @ParameterizedTest
  @CsvSource({
    "gnmt-16, 1.1, 1073741824",
    "xlnet-36, 2.1, 1e9",
    "amoebanet-36, 3.7, 1e9",
    "vgg-19, 550, 1048576"
  })
  void gradientsAreThoseOfTableOne(String name, double size, double unit) {
    assertWithin(0.02, size, graph(name).parameters() * 4 / unit);
  }

  /** The last third of AmoebaNet's cells holds 73 % of the parameters (§VI-B). */
  @Test
  void theLastThirdOfAmoebaNetIsHeavy() {
    LayerGraph graph = graph("amoebanet-36");
    int first = place(graph, "cell-25");
    long last =
        graph.layers().subList(first, graph.size()).stream()
            .mapToLong(layer -> layer.parameters())
            .sum();
    assertEquals(0.73, (double) last / graph.parameters(), 0.02);
  }

  /**
   * Billions of multiply-adds of a forward pass, as torchvision states them for its weights: those
   * of products and convolutions, which follow from the operators and their outputs. The work of
   * the layers has functions, normalisations and poolings besides.
   */
  @ParameterizedTest
  @CsvSource({
    "alexnet, 0.714",
    "vgg-16, 15.470",
    "vgg-19, 19.632",
    "resnet-18, 1.814",
    "resnet-34, 3.664",
    "resnet-50, 4.089",
    "resnet-101, 7.801",
    "resnet-152, 11.514",
    "inception-v3, 5.713",
    "vit-b-16, 17.564"
  })
  void networksHaveThePublishedArithmetic(String name, double billions) {
    LayerGraph graph = graph(name);
    double products = graph.layers().stream().mapToDouble(PublishedSizesTest::multiplyAdds).sum();
    assertEquals(billions, products / 1e9, 0.00051);
    double flop = graph.layers().stream().mapToDouble(layer -> layer.work().forward()).sum();
    assertWithin(0.02, 2e9 * billions, flop);
  }

  private static double multiplyAdds(Layer layer) {
    Shape out = layer.output().orElseThrow();
    return switch (layer.operator()) {
      case Operator.Convolution convolution -> {
        int kernel = convolution.kernel().stream().reduce(1, (a, b) -> a * b);
        yield (double) kernel * convolution.inChannels() * out.elements();
      }
      case Operator.Linear linear -> (double) linear.in() * out.elements();
      case Operator.TransformerBlock block -> { // four projections, a wide perceptron; attention
        double hidden = out.extent(1);
        assertEquals(block.hidden(), hidden);
        yield (4 + 8) * hidden * out.elements() + 2.0 * out.extent(0) * out.elements();
      }
      default -> 0;
    };
  }

  /** A gradient costs as much as the forward pass; nothing is as expensive as the products. */
  @ParameterizedTest
  @ValueSource(strings = {"alexnet", "vgg-16", "resnet-152", "inception-v3", "cosmoflow-512"})
  void backwardPassesOfImageNetworksLackTheGradientOfTheImage(String name) {
    LayerGraph graph = graph(name);
    double products =
        2 * graph.layers().stream().mapToDouble(PublishedSizesTest::multiplyAdds).sum();
    double input = graph.layers().stream().mapToDouble(l -> l.work().inputGradient()).sum();
    double weight = graph.layers().stream().mapToDouble(l -> l.work().weightGradient()).sum();
    assertEquals(0, graph.layer(1).work().inputGradient());
    assertWithin(0.02, products, weight);
    assertWithin(0.02, products - 2 * multiplyAdds(graph.layer(1)), input);
  }

  /** Korthikanti et al., MLSys 2023: 34sh + 5as² bytes of 16-bit activations for each block. */
  @Test
  void aBlockOfGptKeepsWhatTheFormulaSays() {
    var block = graph("gpt:layers=1,hidden=64,heads=4,sequence=32,vocabulary=100").layer(1);
    assertEquals(34 * 32 * 64 + 5 * 4 * 32 * 32, 2 * block.keptElements());
  }

  /**
   * Megatron-LM's count (Narayanan et al., SC 2021, §5.1): 24sh²(1 + s/6h) for each block forward.
   */
  @Test
  void aBlockOfGptComputesWhatTheFormulaSays() {
    var work = graph("gpt").layer(1).work();
    double flop = 24.0 * 1024 * 1024 * 1024 * (1 + 1.0 / 6);
    assertEquals(flop, work.forward());
    assertEquals(2 * flop, work.inputGradient() + work.weightGradient());
  }

  /** Decoder layers cost 1.45 times the encoder's (§VI-B). */
  @Test
  void decodersOfGnmtAreDearerThanEncoders() {
    LayerGraph graph = graph("gnmt-16");
    double encoder = graph.layer(place(graph, "encoder-5")).work().forward();
    double decoder = graph.layer(place(graph, "decoder-5")).work().forward();
    assertEquals(1.45, decoder / encoder, 0.06);
  }
}
