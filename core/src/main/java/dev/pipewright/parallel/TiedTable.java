package dev.pipewright.parallel;

import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import java.util.ArrayList;
import java.util.List;

/**
 * An embedding's table that a head reads, too. The embedding counts it; whoever computes the head
 * has a copy.
 *
 * @param layer of the embedding
 * @param copyLayer of the head
 * @param numbers of the table
 */
public record TiedTable(int layer, int copyLayer, long numbers) {
  /** All of a network. */
  public static List<TiedTable> of(LayerGraph graph) {
    List<TiedTable> tables = new ArrayList<>();
    for (int copy = 0; copy < graph.size(); copy++) {
      for (Operator step : graph.layer(copy).steps()) {
        Integer layer =
            step instanceof Operator.TiedScores(String name) ? graph.index().get(name) : null;
        if (layer != null
            && graph.layer(layer).steps().get(0)
                instanceof Operator.Embedding(int words, int features)) {
          tables.add(new TiedTable(layer, copy, (long) words * features));
        }
      }
    }
    return tables;
  }
}
