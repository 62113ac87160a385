package dev.pipewright.zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.TiedTable;
import dev.pipewright.model.transformer.HeadPart;
import dev.pipewright.model.transformer.InputShape;
import dev.pipewright.model.transformer.TokenPrediction;
import dev.pipewright.model.transformer.TransformerShape;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Counts against those that the networks' own publications and checkpoints give. */
class TransformersTest {
  private static TransformerShape shape(String name) {
    return Transformers.find(name).orElseThrow().shape();
  }

  /** All elements of the released checkpoints, exactly. */
  @ParameterizedTest
  @CsvSource({
    "gpt-2, 124439808, 124439808",
    "gpt-2-medium, 354823168, 354823168",
    "gpt-2-large, 774030080, 774030080",
    "gpt-2-xl, 1557611200, 1557611200",
    "bert-base, 109482240, 109482240",
    "bert-large, 335141888, 335141888",
    "vit-b-16, 86567656, 86567656",
    "vit-l-16, 304326632, 304326632",
    "vit-h-14, 632045800, 632045800",
    "t5-base, 222903552, 222903552",
    "t5-large, 737668096, 737668096",
    "t5-3b, 2851598336, 2851598336",
    "t5-11b, 11307321344, 11307321344",
    "llama2-7b, 6738415616, 6738415616",
    "llama2-13b, 13015864320, 13015864320",
    "llama2-70b, 68976648192, 68976648192",
    "llama3-8b, 8030261248, 8030261248",
    "llama3.1-70b, 70553706496, 70553706496",
    "llama3-405b, 405853388800, 405853388800",
    "mixtral-8x7b, 46702792704, 12879925248",
    "qwen3-0.6b, 596049920, 596049920",
    "qwen3-1.7b, 1720574976, 1720574976",
    "qwen3-4b, 4022468096, 4022468096",
    "qwen3-14b, 14768307200, 14768307200",
    "deepseek-v2-lite, 15706484224, 2661150208",
    "deepseek-v2, 235741434880, 21375800320",
    "qwen3-8b, 8190735360, 8190735360",
    "qwen3-32b, 32762123264, 32762123264",
    "qwen3-30b-a3b, 30532122624, 3353032704",
    "qwen3-235b-a22b, 235093634560, 22190763520",
    "deepseek-v3, 671026419200, 37552297472",
    "gpt-oss-20b, 20914757184, 4187440704",
    "gpt-oss-120b, 116829156672, 5711982912",
  })
  void parametersAreThoseOfTheCheckpoint(String name, long parameters, long active) {
    assertEquals(parameters, shape(name).parameters());
    assertEquals(active, shape(name).activeParameters());
  }

  /** Billions, as the papers round them. */
  @ParameterizedTest
  @CsvSource({
    "gpt3-175b, 174.6",
    "megatron-22b, 22.1",
    "turing-530b, 529.6",
    "megatron-1t, 1008.0",
  })
  void megatronsAreAsLargeAsPublished(String name, double billions) {
    assertEquals(billions, shape(name).parameters() / 1e9, 0.06);
  }

  /** D. Narayanan et al., SC 2021, equation 3: FLOP of an iteration without recomputation. */
  @ParameterizedTest
  @CsvSource({
    "gpt3-175b, 96, 12288",
    "megatron-22b, 48, 6144",
    "turing-530b, 105, 20480",
  })
  void arithmeticIsThatOfMegatronsFormula(String name, double layers, double hidden) {
    double sequence = 2048;
    double formula =
        72
            * layers
            * hidden
            * hidden
            * (1 + sequence / (6 * hidden) + 51_200 / (12 * layers * hidden));
    double scores = 12 * layers * hidden * sequence; // it counts all, the mask keeps half
    double kept = scores * (sequence + 1) / (2 * sequence);
    assertEquals(formula - scores + kept, shape(name).flopsPerToken(2048), 1e-9 * formula);
  }

  @Test
  void everyNameHasAShapeAndNoNetworkHasTwo() {
    for (String name : Transformers.names()) {
      assertEquals(name, Transformers.find(name).orElseThrow().name());
      assertFalse(Models.names().contains(name), name);
    }
    assertTrue(Transformers.find("vgg-16").isEmpty());
  }

  /** The shape and the layers that are planned count the same parameters. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "gpt-2",
        "gpt-2-xl",
        "bert-base",
        "bert-large",
        "bert-48",
        "vit-b-16",
        "gpt:layers=3,hidden=64,heads=4,sequence=32,vocabulary=100",
        "gpt-untied:layers=3,hidden=64,heads=4,sequence=32,vocabulary=100",
        "bert:layers=3,hidden=64,heads=4,sequence=600,vocabulary=100",
        "vit:layers=2,hidden=64,heads=4,patch=8,size=64,classes=10",
        "gpt3-175b",
        "vit-h-14"
      })
  void layersAndShapeAgree(String name) {
    assertEquals(shape(name).parameters(), Models.find(name).orElseThrow().graph().parameters());
  }

  @Test
  void whatABlockExpressesIsTheGraphThatItWas() {
    String gpt = "gpt:layers=3,hidden=64,heads=4,sequence=32,vocabulary=100";
    assertEquals(Models.find(gpt).orElseThrow(), Models.shaped(gpt, shape(gpt), Models.GPT));
    String own = "gpt-untied:layers=3,hidden=64,heads=4,sequence=32,vocabulary=100";
    assertEquals(
        Models.find(own).orElseThrow().graph(), Models.shaped(own, shape(own), "").graph());
    assertEquals(
        Models.find("vit-b-16").orElseThrow().graph(),
        Models.shaped("vit-b-16", shape("vit-b-16"), "").graph());
    assertEquals(
        Models.find("bert-large").orElseThrow().graph(),
        Models.shaped("bert-large", shape("bert-large"), "").graph());
  }

  /** Layers of multi-token prediction and encoders count what their shape does. */
  @ParameterizedTest
  @ValueSource(strings = {"deepseek-v3", "t5-base", "t5-11b"})
  void predictionsAndEncodersAreLayers(String name) {
    TransformerShape shape = shape(name);
    LayerGraph graph = Models.find(name).orElseThrow().graph();
    assertEquals(shape.parameters() + shape.predictionParameters(), graph.parameters());
    assertEquals(
        2 + shape.layers() + shape.prediction().map(TokenPrediction::depth).orElse(0),
        graph.size());
    int tokens = shape.sequence();
    double head = 2.0 * shape.hidden() * ((InputShape.Words) shape.input()).vocabulary();
    double extra =
        shape
            .prediction()
            .map(one ->
                one.depth()
                    * (head
                        + 4.0 * shape.hidden() * shape.hidden()
                        + one.block().flopsPerToken(shape.hidden(), tokens, true)))
            .orElse(0.0);
    double expected = tokens * (shape.forwardFlopsPerToken(tokens) + extra);
    double flop =
        graph.layers().stream()
            .filter(layer -> !layer.name().equals("embedding"))
            .mapToDouble(layer -> layer.work().forward())
            .sum();
    assertEquals(expected, flop, 1e-9 * expected);
  }

  /** Every cut between the encoder's first and the decoder's last block carries two sequences. */
  @Test
  void theEncodersOutputTravelsToTheLastDecoderBlock() {
    LayerGraph graph = Models.find("t5-base").orElseThrow().graph();
    long states = 512L * 768;
    List<Long> cuts = graph.layers().stream().map(Layer::outputElements).toList();
    assertEquals(Collections.nCopies(1 + 12 + 11, 2 * states), cuts.subList(0, 24));
    assertEquals(states, cuts.get(24));
    assertEquals("decoder-12", graph.layer(24).name());
    assertEquals("head", graph.layer(25).name());
  }

  /** The states of the last block travel to the head with those of each prediction. */
  @Test
  void predictionsTravelToTheHead() {
    LayerGraph graph = Models.find("deepseek-v3").orElseThrow().graph();
    long states = graph.layer(1).outputElements();
    assertEquals("prediction-1", graph.layer(62).name());
    assertEquals(states, graph.layer(61).outputElements());
    assertEquals(2 * states, graph.layer(62).outputElements());
    assertEquals(
        List.of(new TiedTable(0, 62, 129_280L * 7168)), graph.tiedTables(), "a copy of the table");
  }

  @Test
  void whatNoGraphExpressesIsSaid() {
    TransformerShape own = shape("deepseek-v3");
    TransformerShape tied =
        new TransformerShape(
            own.hidden(),
            own.input(),
            own.encoder(),
            own.stack(),
            List.of(new HeadPart.Scores(true, false)),
            own.prediction(),
            own.sequence());
    String message =
        assertThrows(IllegalArgumentException.class, () -> Models.shaped("tied", tied, ""))
            .getMessage();
    assertTrue(
        String.valueOf(message)
            .startsWith(
                "multi-token prediction whose head reads the embedding's table cannot be planned"),
        message);
  }

  @Test
  void llamasHaveAnySize() {
    assertEquals(shape("llama3-8b").parameters(), shape("llama").parameters());
    assertEquals(
        shape("llama2-70b").parameters(),
        shape("llama:layers=80,hidden=8192,heads=64,ffn=28672,vocabulary=32000").parameters());
    String message =
        assertThrows(IllegalArgumentException.class, () -> shape("llama:layers=0")).getMessage();
    assertTrue(String.valueOf(message).contains("layers=0 makes no sense"), message);
  }
}
