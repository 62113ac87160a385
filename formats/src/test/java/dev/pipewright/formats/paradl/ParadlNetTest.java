package dev.pipewright.formats.paradl;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cost.Roofline;
import dev.pipewright.formats.file.Refusal;
import dev.pipewright.formats.model.ModelFile;
import dev.pipewright.model.Layer;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Training;
import dev.pipewright.model.Work;
import dev.pipewright.profile.Profile;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.units.Precision;
import dev.pipewright.zoo.Clusters;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ParadlNetTest {
  static final String HEADER = "Dataset|Digits\nInput|60000x1x12x10\nModel|LeNet\n";
  static final String NET =
      HEADER
          + "CONV|1x12x10|1x4x3x3|4x12x10|0.25\n"
          + "BNORM|4x12x10|4x4x0x0|4x12x10|0\n"
          + "RELU|4x12x10|4x4x0x0|4x12x10|0\n"
          + "MPOOL|4x12x10|0x0x2x2|4x6x5|0\n"
          + "CONV|4x6x5|4x6x3x1|6x4x5|0\n"
          + "ADD|6x4x5|6x6x0x0|6x4x5|0\n"
          + "RELU|6x4x5|6x6x0x0|6x4x5|0\n"
          + "FC|6x4x5|6x9x4x5|9x1x1|0\n";

  @TempDir Path folder;

  private ModelFile read(String text) {
    return ParadlNet.read(Refusal.file(folder, "net", text));
  }

  static double secondsOfOneSample(ModelFile model) {
    return Arrays.stream(model.profile().seconds(Quantity.FORWARD, 1)).sum()
        + Arrays.stream(model.profile().seconds(Quantity.BACKWARD, 1)).sum();
  }

  @Test
  void theHeaderNamesModelAndDataset() {
    ModelFile model = read(NET);
    assertEquals("LeNet", model.graph().name());
    assertEquals(Optional.of(new ModelFile.Dataset("Digits", 60_000)), model.dataset());
    assertEquals(Optional.empty(), model.training());
  }

  @Test
  void linesAreAChainBehindTheInputWithNamesOfTheirOwn() {
    var graph = read(NET).graph();
    assertEquals(
        List.of("input", "CONV", "BNORM", "RELU", "MPOOL", "CONV.2", "ADD", "RELU.2", "FC"),
        graph.layers().stream().map(Layer::name).toList());
    for (int i = 1; i < graph.size(); i++) {
      assertEquals(List.of(i - 1), Arrays.stream(graph.predecessors(i)).boxed().toList());
    }
  }

  @Test
  void namesThatLookNumberedStayApart() {
    String relu = "|1x12x10|1x1x0x0|1x12x10\n";
    String text = HEADER + "A" + relu + "A.2" + relu + "A" + relu + "input" + relu;
    assertEquals(
        List.of("input", "A", "A.2", "A.3", "input.2"),
        read(text).graph().layers().stream().map(Layer::name).toList());
  }

  @Test
  void operatorsHaveTheirGeometry() {
    var operators = read(NET).graph().layers().stream().map(Layer::operator).toList();
    List<Integer> ones = List.of(1, 1);
    List<Integer> twos = List.of(2, 2);
    assertEquals(
        List.of(
            new Operator.Input(),
            new Operator.Convolution(1, 4, List.of(3, 3), ones, ones, ones, 1, false),
            new Operator.Normalization(Operator.Normalization.Kind.BATCH, 4),
            new Operator.Elementwise("relu"),
            new Operator.Pooling(Operator.Pooling.Kind.MAX, twos, twos, List.of(0, 0)),
            new Operator.Convolution(4, 6, List.of(3, 1), ones, List.of(0, 0), ones, 1, false),
            new Operator.Elementwise("add"),
            new Operator.Elementwise("relu"),
            new Operator.Linear(120, 9, false)),
        operators);
  }

  @Test
  void parametersAreTheFiltersAndElementsTheShapes() {
    var layers = read(NET).graph().layers();
    assertEquals(
        List.of(0L, 36L, 0L, 0L, 0L, 72L, 0L, 0L, 1080L),
        layers.stream().map(Layer::parameters).toList());
    assertEquals(
        List.of(120L, 480L, 480L, 480L, 120L, 120L, 120L, 120L, 9L),
        layers.stream().map(Layer::outputElements).toList());
    assertEquals(Optional.of(Shape.of(6, 4, 5)), layers.get(5).output());
  }

  @Test
  void aLayerKeepsWhatItsReaderNeedsAgain() {
    // The second convolution is read by a sum, the sum by a function that overwrites it.
    assertEquals(
        List.of(120L, 480L, 8L, 480L, 120L, 0L, 0L, 120L, 9L),
        read(NET).graph().layers().stream().map(Layer::keptElements).toList());
  }

  @Test
  void arithmeticIsThatOfTheZoo() {
    assertEquals(
        List.of(
            Work.NONE,
            new Work(2 * 9 * 480, 0, 2 * 9 * 480, 600), // nobody waits for the input's gradient
            new Work(2400, 3840, 960, 1440),
            new Work(480, 480, 0, 960),
            new Work(480, 480, 0, 600),
            new Work(2 * 12 * 120, 2 * 12 * 120, 2 * 12 * 120, 240),
            new Work(120, 0, 0, 360),
            new Work(120, 120, 0, 240),
            new Work(2160, 2160, 2160, 129)),
        read(NET).graph().layers().stream().map(Layer::work).toList());
  }

  @Test
  void oneNumberIsDividedAsARooflineSeesTheLayers() {
    ModelFile model = read(NET);
    Training training = new Training(Optimizer.SGD, Precision.FP32);
    Profile roofline =
        Roofline.profile(model.graph(), Clusters.v100(), training, List.of(32), false);
    double[] forward = roofline.seconds(Quantity.FORWARD, 32);
    double[] backward = roofline.seconds(Quantity.BACKWARD, 32);
    double unit = 0.25 / (Arrays.stream(forward).sum() + Arrays.stream(backward).sum());
    assertEquals(0.25, secondsOfOneSample(model), 1e-15);
    for (int i = 0; i < forward.length; i++) {
      assertEquals(
          forward[i] * unit, model.profile().seconds(Quantity.FORWARD, 1)[i], 1e-12 * 0.25);
      assertEquals(
          backward[i] * unit, model.profile().seconds(Quantity.BACKWARD, 1)[i], 1e-12 * 0.25);
    }
    assertTrue(model.profile().provenance().measured());
    assertEquals(
        "net, one number divided among the layers by a roofline",
        model.profile().provenance().source());
  }

  @Test
  void layersMayHaveSecondsOfTheirOwn() {
    String text = NET.replace("6x4x5|0\nADD", "6x4x5|1e-3\nADD").replace("9x1x1|0", "9x1x1|.0005");
    Profile profile = read(text).profile();
    assertEquals(List.of(32), profile.samples());
    List<LayerTimes> times = profile.times(0);
    double[] expected = {0, 0.25, 0, 0, 0, 1e-3, 0, 0, 5e-4};
    for (int i = 0; i < expected.length; i++) {
      assertEquals(
          32 * expected[i], times.get(i).forward() + times.get(i).backward(), 1e-15, "layer " + i);
      assertEquals(0, times.get(i).update());
    }
    // A convolution does as much for each gradient as forwards; the first has one gradient.
    assertTrue(times.get(5).backward() > 1.5 * times.get(5).forward());
    assertTrue(times.get(5).weightGradient() > 0);
    assertEquals("net", profile.provenance().source());
  }

  @Test
  void withoutSecondsTheRooflineStandsIn() {
    String zeros = NET.replace("|0.25", "|0");
    ModelFile bare = read(zeros.replace("|0\n", "\n"));
    assertEquals(read(zeros), bare);
    Training training = new Training(Optimizer.SGD, Precision.FP32);
    Profile roofline =
        Roofline.profile(bare.graph(), Clusters.v100(), training, List.of(32), false);
    for (Quantity quantity : List.of(Quantity.FORWARD, Quantity.BACKWARD)) {
      assertArrayEquals(
          roofline.seconds(quantity, 32), bare.profile().seconds(quantity, 32), quantity.name());
    }
    assertArrayEquals(new double[9], bare.profile().seconds(Quantity.UPDATE, 32));
    assertFalse(bare.profile().provenance().measured());
  }

  @Test
  void linesMayBeUntidy() {
    String text =
        "\uFEFF# a comment | with bars\r\n\r\n"
            + NET.replace("|", " | ").replace("\n", "\r\n# between|0\r\n").replace("x5", " x 5");
    assertEquals(read(NET), read(text.strip()));
  }

  @Test
  void threeDimensionsAreRead() {
    ModelFile model =
        read(
            """
            Dataset|Cubes
            Input|7x4x8x8x6
            Model|M
            C|4x8x8x6|4x2x2x2x3|2x8x8x3|1
            APOOL|2x8x8x3|0x0x2x2x1|2x4x4x3
            """);
    assertEquals(
        new Operator.Convolution(
            4, 2, List.of(2, 2, 3), List.of(1, 1, 2), List.of(1, 1, 1), List.of(1, 1, 1), 1, false),
        model.graph().layer(1).operator());
    assertEquals(
        new Operator.Pooling(
            Operator.Pooling.Kind.AVERAGE, List.of(2, 2, 1), List.of(2, 2, 1), List.of(0, 0, 0)),
        model.graph().layer(2).operator());
    assertEquals(1, secondsOfOneSample(model), 1e-12);
  }

  private static String map(int channels, int extent) {
    return channels + "x" + extent + "x" + extent;
  }

  /** A chain of convolutions and poolings with strides and paddings of its own. */
  @RepeatedTest(100)
  void anyChainComesBackWithItsShapesWeightsAndSeconds(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int channels = random.nextInt(1, 9);
    int extent = random.nextInt(20, 400);
    StringBuilder text = new StringBuilder("Dataset|D\nInput|9x");
    text.append(map(channels, extent)).append("\nModel|M\n");
    long weights = 0;
    double seconds = 0;
    int layers = random.nextInt(1, 8);
    for (int i = 0; i < layers; i++) {
      int kernel = random.nextInt(1, Math.min(6, extent + 1));
      int stride = random.nextInt(1, kernel + 1);
      int padding = random.nextInt(kernel / 2 + 1);
      boolean pools = random.nextInt(3) == 0;
      int filters = pools ? channels : random.nextInt(1, 9);
      double time = random.nextDouble(1e-6, 1e-2);
      text.append(pools ? "MPOOL|" : "C|").append(map(channels, extent)).append('|');
      text.append(pools ? "0x" : channels + "x").append(map(pools ? 0 : filters, kernel));
      extent = (extent + 2 * padding - kernel) / stride + 1;
      text.append('|').append(map(filters, extent)).append('|').append(time).append('\n');
      weights += pools ? 0 : (long) channels * filters * kernel * kernel;
      seconds += time;
      channels = filters;
    }
    ModelFile model = read(text.toString());
    assertEquals(weights, model.graph().parameters());
    assertEquals(seconds, secondsOfOneSample(model), 1e-12 * seconds);
    var last = model.graph().layer(model.graph().size() - 1);
    assertEquals(Optional.of(Shape.of(channels, extent, extent)), last.output());
  }
}
