package dev.pipewright.zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.model.Chain;
import dev.pipewright.model.Layer;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Optimizer;
import dev.pipewright.model.Training;
import dev.pipewright.units.Precision;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ModelsTest {
  static ZooModel model(String name) {
    return Models.find(name).orElseThrow();
  }

  @ParameterizedTest
  @MethodSource("dev.pipewright.zoo.Models#names")
  void everyNameFindsAConnectedNetworkOfThatName(String name) {
    ZooModel model = model(name);
    assertEquals(name, model.name());
    assertEquals(name, model.graph().name());
    long sources =
        IntStream.range(0, model.graph().size())
            .filter(layer -> model.graph().predecessors(layer).length == 0)
            .count();
    assertTrue(Chain.of(model.graph()).size() + sources - 1 >= model.graph().size());
    assertEquals(model.graph().size(), model.graph().index().size(), "layer names are unique");
  }

  @ParameterizedTest
  @MethodSource("dev.pipewright.zoo.Models#names")
  void shapesHoldAsManyElementsAsTheLayersHandOn(String name) {
    for (Layer layer : model(name).graph().layers()) {
      assertEquals(layer.outputElements(), layer.output().orElseThrow().elements(), layer.name());
    }
  }

  @ParameterizedTest
  @MethodSource("dev.pipewright.zoo.Models#names")
  void weightsHaveAWeightGradientAndNothingElseHas(String name) {
    for (Layer layer : model(name).graph().layers()) {
      assertEquals(layer.parameters() > 0, layer.work().weightGradient() > 0, layer.name());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "vgg-19",
        "bert-48",
        "gnmt-16",
        "xlnet-36",
        "amoebanet-36",
        "gpt:layers=3",
        "alexnet",
        "cosmoflow-256",
        "vit-b-16",
        "gpt-2"
      })
  void allButResNetAndInceptionLeaveNoChoiceBetweenBranches(String name) {
    assertTrue(Chain.of(model(name).graph()).total());
  }

  @ParameterizedTest
  @ValueSource(strings = {"resnet-18", "resnet-50", "resnet-152", "inception-v3"})
  void projectionsOfResNetAndModulesOfInceptionAreBranches(String name) {
    assertFalse(Chain.of(model(name).graph()).total());
  }

  @ParameterizedTest
  @CsvSource({
    "gnmt-16, ADAM, 64",
    "bert-48, ADAM, 2",
    "xlnet-36, ADAM, 1",
    "resnet-50, MOMENTUM, 128",
    "vgg-19, MOMENTUM, 32",
    "amoebanet-36, RMSPROP, 1"
  })
  void networksAreTrainedAsInTheExperiments(String name, Optimizer optimizer, int samples) {
    ZooModel model = model(name);
    assertEquals(optimizer, model.training().optimizer());
    assertEquals(Precision.FP32, model.training().precision());
    assertEquals(samples, model.samples());
    assertTrue(model.source().contains("DAPPLE"));
  }

  @ParameterizedTest
  @CsvSource({
    "alexnet, MOMENTUM",
    "resnet-152, MOMENTUM",
    "cosmoflow-512, MOMENTUM",
    "vit-b-16, ADAM",
    "bert-large, ADAM",
    "gpt-2-xl, ADAM"
  })
  void imagesAreTrainedWithMomentumAndTransformersWithAdam(String name, Optimizer optimizer) {
    assertEquals(new Training(optimizer, Precision.FP32), model(name).training());
  }

  @Test
  void formsStandForTheSameNetwork() {
    assertEquals(model("bert-106").graph().layers(), model("bert:layers=106").graph().layers());
    assertEquals(model("bert").graph().layers(), model("bert-24").graph().layers());
    assertEquals(model("mlp").graph().layers(), model("mlp-8x1024").graph().layers());
    assertEquals(model("gnmt").graph().layers(), model("gnmt-16").graph().layers());
    assertEquals(model("vit").graph().layers(), model("vit-b-16").graph().layers());
    assertEquals(model("cosmoflow").graph().layers(), model("cosmoflow-128").graph().layers());
    assertEquals(model("resnet-50:size=224").graph().layers(), model("resnet-50").graph().layers());
    assertEquals(model("gpt").graph().layers(), model("gpt-2-medium").graph().layers());
    assertEquals(
        model("gpt").graph().layers(),
        model("gpt:layers=24,hidden=1024,heads=16,sequence=1024,vocabulary=50257")
            .graph()
            .layers());
    assertEquals(
        model("gpt-8x256").graph().layers(),
        model("gpt-untied:layers=8,hidden=256,heads=8,sequence=128,vocabulary=1024")
            .graph()
            .layers());
  }

  /** DAPPLE's BERT hands the attention mask on beside the states; the others do not. */
  @Test
  void onlyTheBertOfTheProfileHandsItsMaskOn() {
    assertEquals("384×1408", String.valueOf(model("bert-48").graph().layer(5).output().get()));
    assertEquals("512×1024", String.valueOf(model("bert-large").graph().layer(5).output().get()));
    assertEquals(model("bert-24").graph().parameters(), model("bert-large").graph().parameters());
  }

  @Test
  void unknownNamesFindNothing() {
    assertEquals(Optional.empty(), Models.find("lenet"));
    assertEquals(Optional.empty(), Models.find("bert-small"));
    assertEquals(Optional.empty(), Models.find("gpt-24"));
    assertEquals(Optional.empty(), Models.find(""));
    assertEquals(Optional.empty(), Models.find("resnet-19:size=32"));
    assertEquals(Optional.empty(), Models.find("bert-base:layers=3"));
  }

  /** What a layer computes is said completely but for networks that are only planned. */
  @ParameterizedTest
  @MethodSource("dev.pipewright.zoo.Models#names")
  void allButTwoNetworksSayWhatTheyCompute(String name) {
    boolean said =
        model(name).graph().layers().stream()
            .flatMap(layer -> layer.steps().stream())
            .noneMatch(step -> step instanceof Operator.Block);
    assertEquals(!name.equals("xlnet-36") && !name.equals("amoebanet-36"), said);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "bert-0 | bert-0: layers=0 makes no sense; write a whole number from 1 to 1000000",
        "gpt:layers=x | gpt:layers=x: layers=x makes no sense; write a whole number from 1 to"
            + " 1000000",
        "gpt:depth=3 | gpt:depth=3: 'depth=3' is not understood; write key=number with a key of"
            + " layers, hidden, heads, sequence, vocabulary",
        "gpt: | gpt:: '' is not understood; write key=number with a key of"
            + " layers, hidden, heads, sequence, vocabulary",
        "bert:layers | bert:layers: 'layers' is not understood; write key=number with a key of"
            + " layers, hidden, heads, sequence, vocabulary",
        "gnmt:layers=2 | gnmt:layers=2: layers=2 makes no sense; half of them encode and half"
            + " decode, two or more each",
        "gnmt:layers=7 | gnmt:layers=7: layers=7 makes no sense; half of them encode and half"
            + " decode, two or more each",
        "cosmoflow:size=15 | cosmoflow:size=15: size=15 makes no sense; write 16 or more",
        "vit:patch=9 | the image must be a multiple of the patch: size=224, patch=9",
        "resnet-18:depth=3 | resnet-18:depth=3: 'depth=3' is not understood; write key=number with"
            + " a key of size, classes, width",
        "gpt:heads=3 | the hidden size must be a multiple of the heads: hidden=1024, heads=3"
      })
  void parametersThatMakeNoSenseAreNamed(String name, String message) {
    var thrown = assertThrows(IllegalArgumentException.class, () -> Models.find(name));
    assertEquals(message, thrown.getMessage());
  }
}
