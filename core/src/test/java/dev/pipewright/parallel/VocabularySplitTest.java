package dev.pipewright.parallel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.model.LayerGraph;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.zoo.Models;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which tables and heads are divided by words. */
class VocabularySplitTest {
  private static final String SIZES = ":layers=1,hidden=16,heads=4,sequence=8,vocabulary=";

  @ParameterizedTest
  @CsvSource({
    "gpt-untied, 31, TENSOR, 2, true, true",
    "gpt-untied, 4, TENSOR, 4, true, true",
    "gpt-untied, 3, TENSOR, 4, false, false", // fewer words than members
    "gpt-untied, 31, SEQUENCE, 2, true, true",
    "gpt-untied, 31, TENSOR, 1, false, false",
    "gpt, 31, TENSOR, 2, false, false", // one table
    "bert, 31, TENSOR, 2, true, false", // its head reads one token
  })
  void tablesAndHeads(
      String network, int words, Kind kind, int parts, boolean table, boolean head) {
    LayerGraph graph = Models.find(network + SIZES + words).orElseThrow().graph();
    VocabularySplit split = new VocabularySplit(graph, Parallelism.of(kind, parts));
    int last = graph.size() - 1;
    for (int layer = 0; layer <= last; layer++) {
      assertEquals(table && layer == 0, split.embedding(layer).isPresent(), "table " + layer);
      assertEquals(head && layer == last, split.head(layer).isPresent(), "head " + layer);
    }
  }

  /** Begin and end of an answer are no words. */
  @ParameterizedTest
  @CsvSource({"xlnet-36, true", "bert-48, true", "vit-b-16, false", "gpt-2-medium, false"})
  void ofTheZoo(String network, boolean table) {
    LayerGraph graph = Models.find(network).orElseThrow().graph();
    VocabularySplit split = new VocabularySplit(graph, Parallelism.of(Kind.TENSOR, 2));
    assertEquals(table, split.embedding(0).isPresent());
    assertTrue(split.head(graph.size() - 1).isEmpty());
  }
}
