package dev.pipewright.zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every layer reads what its predecessors hand on, and hands on what its operator makes of it. */
class GeometryTest {
  private static LayerGraph graph(String name) {
    return ModelsTest.model(name).graph();
  }

  private static Shape shape(Layer layer) {
    return layer.output().orElseThrow();
  }

  private static int last(Shape shape) {
    return shape.extent(shape.extents().size() - 1);
  }

  private static List<Integer> spatial(Shape shape) {
    return shape.extents().subList(1, shape.extents().size());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "alexnet",
        "vgg-16",
        "vgg-19",
        "resnet-18",
        "resnet-34",
        "resnet-50",
        "resnet-101",
        "resnet-152",
        "inception-v3",
        "cosmoflow-128",
        "cosmoflow-256",
        "cosmoflow-512",
        "vit-b-16",
        "bert-base",
        "bert-large",
        "gpt-2",
        "gpt-2-medium",
        "gpt-2-large",
        "gpt-2-xl",
        "bert-48",
        "gnmt-16",
        "mlp-8x1024",
        "cnn-64-128-256",
        "gpt-8x256",
        "mlp:layers=1,hidden=7,in=5,classes=3",
        "cnn-64-128-256:size=20,classes=3",
        "resnet-18:size=32,classes=10",
        "resnet-50:size=33,classes=2",
        "vgg-16:size=48,classes=10",
        "vgg-19:size=32,classes=4,width=8",
        "cosmoflow:size=16,outputs=3",
        "cosmoflow:size=40",
        "cosmoflow:size=64",
        "vit:layers=2,hidden=24,heads=3,patch=4,size=12,classes=5",
        "gnmt:layers=6,hidden=12,steps=7,vocabulary=20"
      })
  void everyLayerReadsWhatItsPredecessorsHandOn(String name) {
    LayerGraph graph = graph(name);
    for (int i = 0; i < graph.size(); i++) {
      List<Shape> read =
          Arrays.stream(graph.predecessors(i)).mapToObj(p -> shape(graph.layer(p))).toList();
      check(graph.layer(i), read);
    }
  }

  private static void check(Layer layer, List<Shape> read) {
    String name = layer.name();
    Shape out = shape(layer);
    switch (layer.operator()) {
      case Operator.Input() -> assertTrue(read.isEmpty(), name);
      case Operator.Convolution convolution -> {
        assertEquals(1, read.size(), name);
        assertEquals(convolution.inChannels(), read.get(0).extent(0), name);
        assertEquals(convolution.outChannels(), out.extent(0), name);
        assertEquals(
            places(
                read.get(0),
                convolution.kernel(),
                convolution.stride(),
                convolution.padding(),
                convolution.dilation()),
            spatial(out),
            name);
      }
      case Operator.Pooling pooling -> {
        assertEquals(1, read.size(), name);
        assertEquals(read.get(0).extent(0), out.extent(0), name);
        List<Integer> ones = pooling.kernel().stream().map(k -> 1).toList();
        assertEquals(
            places(read.get(0), pooling.kernel(), pooling.stride(), pooling.padding(), ones),
            spatial(out),
            name);
      }
      case Operator.Linear linear -> {
        assertEquals(1, read.size(), name);
        boolean flattened = read.get(0).elements() == linear.in();
        int mask = last(read.get(0)) - linear.in(); // behind the states, as wide as the sequence
        assertTrue(flattened || mask == 0 || mask == read.get(0).extent(0), name);
        assertEquals(linear.out(), last(out), name);
      }
      case Operator.Normalization normalization -> {
        assertEquals(List.of(out), read, name);
        boolean batch = normalization.kind() == Operator.Normalization.Kind.BATCH;
        assertEquals(normalization.features(), batch ? out.extent(0) : last(out), name);
      }
      case Operator.Elementwise function -> {
        List<Shape> equal = function.function().equals("add") ? List.of(out, out) : List.of(out);
        assertEquals(equal, read, name);
      }
      case Operator.Concatenation() -> {
        assertEquals(out.extent(0), read.stream().mapToInt(part -> part.extent(0)).sum(), name);
        read.forEach(part -> assertEquals(spatial(out), spatial(part), name));
      }
      case Operator.Embedding embedding -> {
        boolean masked = layer.steps().contains(new Operator.Mask(out.extent(0)));
        assertEquals(embedding.features() + (masked ? out.extent(0) : 0), last(out), name);
      }
      case Operator.Tokens tokens -> assertTrue(read.isEmpty(), name);
      case Operator.TransformerBlock block -> {
        assertEquals(List.of(out), read, name);
        int carried = layer.steps().size() == 1 ? 0 : block.sequence();
        assertEquals(Shape.of(block.sequence(), block.hidden() + carried), out, name);
      }
      case Operator.Lstm lstm -> {
        assertEquals(lstm.in(), last(read.get(0)), name);
        assertEquals(lstm.sequence(), out.extent(0), name);
        boolean twice = lstm.bidirectional() || layer.steps().contains(carried(lstm));
        assertEquals((twice ? 2 : 1) * lstm.hidden(), last(out), name);
      }
      case Operator.AttentionLstm attention -> {
        assertEquals(List.of(attention.hidden()), List.of(last(read.get(0))), name);
        assertEquals(Shape.of(out.extent(0)), read.get(1), name);
        assertEquals(2 * attention.hidden(), last(out), name);
      }
      default -> fail(name + layer.operator());
    }
  }

  private static Operator carried(Operator.Lstm lstm) {
    return new Operator.Carried(lstm.hidden());
  }

  /** Axis by axis, counted place by place. */
  private static List<Integer> places(
      Shape in,
      List<Integer> kernel,
      List<Integer> stride,
      List<Integer> padding,
      List<Integer> dilation) {
    List<Integer> extents = spatial(in);
    assertEquals(extents.size(), kernel.size());
    List<Integer> places = new ArrayList<>();
    for (int axis = 0; axis < extents.size(); axis++) {
      places.add(
          WindowTest.placesOneByOne(
              extents.get(axis),
              kernel.get(axis),
              stride.get(axis),
              padding.get(axis),
              dilation.get(axis)));
    }
    return places;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "alexnet; conv1; 64×55×55",
        "alexnet; pool5; 256×6×6",
        "vgg-16; pool5; 512×7×7",
        "resnet-18; layer4.2.relu2; 512×7×7",
        "resnet-50; maxpool; 64×56×56",
        "resnet-50; layer1.3.relu3; 256×56×56",
        "resnet-50; layer4.3.relu3; 2048×7×7",
        "resnet-152; layer3.36.relu3; 1024×14×14",
        "inception-v3; maxpool2; 192×35×35",
        "inception-v3; Mixed_5d; 288×35×35",
        "inception-v3; Mixed_6e; 768×17×17",
        "inception-v3; Mixed_7a; 1280×8×8",
        "inception-v3; Mixed_7c; 2048×8×8",
        "cosmoflow-128; conv4; 128×8×8×8",
        "cosmoflow-128; conv7; 128×1×1×1",
        "cosmoflow-256; conv1; 16×256×256×256",
        "cosmoflow-256; pool6; 256×2×2×2",
        "cosmoflow-512; conv7; 128×1×1×1",
        "vit-b-16; patches; 768×14×14",
        "vit-b-16; block-12; 197×768",
        "bert-large; block-24; 512×1024",
        "gpt-2-xl; head; 1024×50257",
        "gpt-8x256; head; 128×1024",
        "cnn-64-128-256; pool3; 256×4×4",
        "vgg-16:size=32; pool5; 512×1×1",
        "vgg-16:size=32,width=8; pool5; 64×1×1",
        "resnet-18:size=32; layer4.2.relu2; 512×1×1",
        "cosmoflow:size=32; conv5; 256×9×9×9",
        "vit:patch=4,size=32; tokens; 65×768",
        "gnmt-16; decoder-2; 50×2048",
        "gnmt-16; decoder-8; 50×1024"
      })
  void outputsAreAsPublished(String name, String layer, String shape) {
    LayerGraph graph = graph(name);
    int number = Objects.requireNonNull(graph.index().get(layer), layer);
    assertEquals(shape, shape(graph.layer(number)).toString());
  }

  /** Weights follow from the operator alone; a unit of Inception adds its normalisation's. */
  @ParameterizedTest
  @ValueSource(strings = {"alexnet", "resnet-34", "resnet-152", "inception-v3", "cosmoflow-512"})
  void weightsAreThoseOfTheOperator(String name) {
    for (Layer layer : graph(name).layers()) {
      long expected =
          switch (layer.operator()) {
            case Operator.Convolution c -> {
              long kernel =
                  c.kernel().stream().mapToLong(Integer::longValue).reduce(1, (a, b) -> a * b);
              long perFilter = name.equals("inception-v3") ? 2 : c.bias() ? 1 : 0;
              yield c.outChannels() * (kernel * c.inChannels() / c.groups() + perFilter);
            }
            case Operator.Linear(int in, int out, boolean bias) -> out * (in + (bias ? 1L : 0));
            case Operator.Normalization(var kind, int features) -> 2L * features;
            default -> 0;
          };
      assertEquals(expected, layer.parameters(), layer.name());
    }
  }
}
