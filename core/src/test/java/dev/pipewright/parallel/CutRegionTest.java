package dev.pipewright.parallel;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.model.LayerGraph;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.zoo.Models;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Between which layers tensors stay cut. */
class CutRegionTest {
  private static List<String> inside(String network, Parallelism split) {
    LayerGraph graph = Models.find(network).orElseThrow().graph();
    CutRegion region = new CutRegion(graph, split);
    return IntStream.range(0, graph.size())
        .filter(region::contains)
        .mapToObj(layer -> graph.layer(layer).name())
        .toList();
  }

  private static List<String> outside(String network, Parallelism split) {
    LayerGraph graph = Models.find(network).orElseThrow().graph();
    CutRegion region = new CutRegion(graph, split);
    return IntStream.range(0, graph.size())
        .filter(layer -> !region.contains(layer))
        .mapToObj(layer -> graph.layer(layer).name())
        .toList();
  }

  @Test
  void mapsAreCutUpToTheGlobalPooling() {
    assertEquals(
        List.of("input", "avgpool", "fc"),
        outside("resnet-50", new Parallelism(Kind.SPATIAL, List.of(2, 2))));
  }

  @Test
  void mapsWithTooFewRowsAreWhole() {
    List<String> cut = inside("cnn-64-128-256:size=12,classes=4", places(4));
    assertEquals(List.of("conv1_1", "conv1_2", "pool1", "conv2_1", "conv2_2"), cut);
  }

  private static Parallelism places(int rows) {
    return new Parallelism(Kind.SPATIAL, List.of(rows, 1));
  }

  @Test
  void stepsAreCutBetweenBlocks() {
    List<String> cut =
        inside(
            "gpt:layers=3,hidden=12,heads=3,sequence=8,vocabulary=32",
            Parallelism.of(Kind.SEQUENCE, 2));
    assertEquals(3, cut.size());
  }

  /** From the embedding to the scores; of ViT and BERT what makes something of each token. */
  @Test
  void tokensAreCutFromEndToEnd() {
    Parallelism two = Parallelism.of(Kind.CONTEXT, 2);
    assertEquals(5, inside("gpt:layers=3,hidden=12,heads=3,sequence=8,vocabulary=32", two).size());
    assertEquals(
        List.of("embedding", "block-1", "block-2", "head"),
        inside("llama:layers=2,hidden=16,heads=4,kv-heads=2,ffn=20,sequence=8,vocabulary=9", two));
    String vit = "vit:layers=2,hidden=18,heads=3,patch=8,size=16,classes=4";
    assertEquals(List.of("block-1", "block-2", "normalization"), inside(vit, two));
    String bert = "bert:layers=2,hidden=16,heads=2,sequence=8,vocabulary=32";
    assertEquals(List.of("embedding", "block-1", "block-2"), inside(bert, two));
  }

  @Test
  void nothingIsCutWhereProductsAreSplit() {
    for (Kind kind : List.of(Kind.FILTER, Kind.CHANNEL, Kind.TENSOR)) {
      assertEquals(List.of(), inside("vgg-16", Parallelism.of(kind, 2)));
    }
  }
}
