package dev.pipewright.exchange;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.model.LayerGraph;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.zoo.Models;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What workers have of parameters adds up to all of them, however uneven the parts. */
class ShardedParametersTest {
  @ParameterizedTest
  @CsvSource({
    "resnet-50, FILTER, 7",
    "resnet-50, CHANNEL, 5",
    "resnet-50, SPATIAL, 2",
    "vgg-16, FILTER, 3",
    "vit-b-16, TENSOR, 5",
    "vit-b-16, SEQUENCE, 5",
    "llama3-8b, CONTEXT, 4",
    "mixtral-8x7b, EXPERT, 3",
    "bert-48, TENSOR, 3",
    "bert-48, SEQUENCE, 3",
    "gpt-untied, TENSOR, 3"
  })
  void addUp(String network, Kind kind, int parts) {
    LayerGraph graph = Models.find(network).orElseThrow().graph();
    Parallelism split =
        new Parallelism(kind, kind == Kind.SPATIAL ? List.of(parts, 1) : List.of(parts));
    ShardedParameters parameters = new ShardedParameters(graph, split);
    long divided = 0;
    for (int layer = 0; layer < graph.size(); layer++) {
      long pieces = 0;
      for (int part = 0; part < split.parts(); part++) {
        pieces += parameters.of(layer, part).pieces() + parameters.of(layer, part).experts();
        assertTrue(parameters.of(layer, part).numbers() <= parameters.most(layer));
      }
      long whole = parameters.of(layer, 0).whole();
      assertEquals(graph.layer(layer).parameters(), pieces + whole, graph.layer(layer).name());
      divided += pieces;
    }
    assertEquals(kind != Kind.SPATIAL && kind != Kind.CONTEXT, divided > 0);
  }

  /** Members of a copy hold what those of one group would. */
  @Test
  void copiesHoldTheSamePieces() {
    LayerGraph graph = Models.find("llama3-8b").orElseThrow().graph();
    ShardedParameters group = new ShardedParameters(graph, Parallelism.of(Kind.SEQUENCE, 4));
    ShardedParameters copies = new ShardedParameters(graph, Parallelism.ofCopies(3, 4));
    for (int layer = 0; layer < graph.size(); layer++) {
      assertEquals(group.most(layer), copies.most(layer));
      for (int part = 0; part < 12; part++) {
        assertEquals(group.of(layer, part % 4), copies.of(layer, part));
      }
    }
  }

  /** Of three groups of two each member has the heads of its place and experts of its own. */
  @Test
  void groupsThatShareOutExpertsHoldTheSamePieces() {
    String model =
        "mixtral:layers=1,hidden=32,heads=4,kv-heads=2,ffn=48,sequence=8,vocabulary=30,experts=7,chosen=2";
    Parallelism copies = Parallelism.ofExpertCopies(3, 2);
    long expert = 3 * 32 * 48;
    long attention = 2 * 32 * (16 + 8);
    long all = 0;
    for (int part = 0; part < 6; part++) {
      ShardedParameters.Held block = held(model, "block-1", copies, part);
      assertEquals(attention, block.pieces());
      assertEquals(2 * 32 + 7 * 32, block.whole());
      assertTrue(block.summed());
      assertEquals((part == 5 ? 2 : 1) * expert, block.experts());
      all += block.experts();
      assertEquals(
          new ShardedParameters.Held(15 * 32, 0, 0, false), held(model, "embedding", copies, part));
    }
    assertEquals(7 * expert, all);
  }

  private static ShardedParameters.Held held(
      String network, String layer, Parallelism split, int part) {
    LayerGraph graph = Models.find(network).orElseThrow().graph();
    int number = graph.index().getOrDefault(layer, -1);
    return new ShardedParameters(graph, split).of(number, part);
  }

  /** Of 128 filters of 64 × 3 × 3 with a bias each a worker has its own, and their biases. */
  @Test
  void filtersTakeTheirBiasesAlong() {
    Parallelism three = Parallelism.of(Kind.FILTER, 3);
    for (int part = 0; part < 3; part++) {
      long filters = part == 0 ? 42 : 43;
      assertEquals(
          new ShardedParameters.Held(filters * (64 * 9 + 1), 0, 0, false),
          held("cnn-64-128-256", "conv2_1", three, part));
    }
  }

  /** Channels leave the biases to everybody, and the first product whole. */
  @Test
  void channelsLeaveBiasesToEverybody() {
    Parallelism two = Parallelism.of(Kind.CHANNEL, 2);
    assertEquals(
        new ShardedParameters.Held(128 * 32 * 9, 0, 128, false),
        held("cnn-64-128-256", "conv2_1", two, 0));
    assertEquals(
        new ShardedParameters.Held(0, 0, 64 * (27 + 1), false),
        held("cnn-64-128-256", "conv1_1", two, 1));
  }

  /** Places have all numbers, whose gradients they add up; behind them each computes it all. */
  @Test
  void placesAddUpWhatTheyShare() {
    Parallelism two = new Parallelism(Kind.SPATIAL, List.of(2, 1));
    assertEquals(
        new ShardedParameters.Held(0, 0, 64 * (27 + 1), true),
        held("cnn-64-128-256", "conv1_1", two, 0));
    assertEquals(
        new ShardedParameters.Held(0, 0, 4096 * 10 + 10, false),
        held("cnn-64-128-256", "classifier", two, 0));
  }

  /** Tokens, too, from the table to the head. */
  @Test
  void tokensAddUpWhatTheyShare() {
    String model = "llama:layers=1,hidden=32,heads=4,kv-heads=2,ffn=48,sequence=8,vocabulary=30";
    Parallelism two = Parallelism.of(Kind.CONTEXT, 2);
    assertEquals(new ShardedParameters.Held(0, 0, 30 * 32, true), held(model, "embedding", two, 1));
    assertEquals(new ShardedParameters.Held(0, 0, 30 * 32 + 32, true), held(model, "head", two, 0));
  }

  /** Whole experts; the router, the attention and the norms are those of all. */
  @Test
  void expertsAreSharedOut() {
    String model =
        "mixtral:layers=1,hidden=32,heads=4,kv-heads=2,ffn=48,sequence=8,vocabulary=30,experts=5,chosen=2";
    Parallelism two = Parallelism.of(Kind.EXPERT, 2);
    long expert = 3 * 32 * 48;
    long others = 2 * 32 * (32 + 16) + 2 * 32 + 5 * 32;
    assertEquals(
        new ShardedParameters.Held(0, 2 * expert, others, true), held(model, "block-1", two, 0));
    assertEquals(
        new ShardedParameters.Held(0, 3 * expert, others, true), held(model, "block-1", two, 1));
    assertEquals(new ShardedParameters.Held(0, 0, 30 * 32, true), held(model, "embedding", two, 1));
  }

  /** Of 31 words a member of two has 15 rows of the table, and as many of the head with biases. */
  @Test
  void tablesAndHeadsAreSharedOutByWords() {
    String model = "gpt-untied:layers=1,hidden=20,heads=5,sequence=8,vocabulary=31";
    Parallelism two = Parallelism.of(Kind.TENSOR, 2);
    assertEquals(
        new ShardedParameters.Held(15 * 20, 0, 8 * 20, false), held(model, "embedding", two, 0));
    assertEquals(
        new ShardedParameters.Held(16 * 21, 0, 2 * 20, false), held(model, "head", two, 1));
    Parallelism steps = Parallelism.of(Kind.SEQUENCE, 2);
    assertEquals(held(model, "embedding", two, 0), held(model, "embedding", steps, 0));
    assertEquals(held(model, "head", two, 1), held(model, "head", steps, 1));
  }

  /**
   * Of a block: a head of 5 has its queries, keys and values, what reads it, and inner features.
   */
  @Test
  void blocksAreSharedOutByHeads() {
    Parallelism two = Parallelism.of(Kind.TENSOR, 2);
    long hidden = 20; // five heads of four
    String model = "gpt:layers=1,hidden=20,heads=5,sequence=8,vocabulary=32";
    long attention = 2 * 4 * (3 * (hidden + 1) + hidden);
    long perceptron = 2 * hidden * (hidden + 1 + hidden);
    assertEquals(
        new ShardedParameters.Held(attention + perceptron, 0, 6 * hidden, false),
        held(model, "block-1", two, 0));
    assertEquals(
        new ShardedParameters.Held(attention / 2 * 3 + perceptron, 0, 6 * hidden, false),
        held(model, "block-1", two, 1));
    assertTrue(held(model, "block-1", Parallelism.of(Kind.SEQUENCE, 2), 0).summed());
  }
}
