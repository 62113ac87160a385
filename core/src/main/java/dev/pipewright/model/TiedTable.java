package dev.pipewright.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An embedding's table that another layer reads, too: a head, or a later look-up. The embedding
 * counts it; whoever computes the other layer has a copy.
 *
 * @param layer of the embedding
 * @param copyLayer that reads it, too
 * @param numbers of the table
 */
public record TiedTable(int layer, int copyLayer, long numbers) {
  /** All of a network. */
  static List<TiedTable> of(LayerGraph graph) {
    List<TiedTable> tables = new ArrayList<>();
    Map<String, Integer> index = graph.index();
    for (int copy = 0; copy < graph.size(); copy++) {
      for (Operator step : graph.layer(copy).steps()) {
        Integer layer = table(step).map(index::get).orElse(null);
        if (layer != null
            && graph.layer(layer).steps().get(0)
                instanceof Operator.Embedding(int words, int features)) {
          tables.add(new TiedTable(layer, copy, (long) words * features));
        }
      }
    }
    return List.copyOf(tables);
  }

  private static Optional<String> table(Operator step) {
    return switch (step) {
      case Operator.TiedScores(String name) -> Optional.of(name);
      case Operator.TiedEmbedding(String name) -> Optional.of(name);
      default -> Optional.empty();
    };
  }

  /**
   * The network with a table of its own in each of these layers, as frameworks see it that divide
   * tied tables by words.
   */
  public static LayerGraph untied(LayerGraph graph) {
    List<Layer> layers = new ArrayList<>(graph.layers());
    for (TiedTable table : graph.tiedTables()) {
      Layer head = layers.get(table.copyLayer);
      Operator.Embedding words = (Operator.Embedding) graph.layer(table.layer).steps().get(0);
      Operator product = new Operator.Linear(words.features(), words.vocabulary(), false);
      List<Operator> steps =
          head.steps().stream()
              .map(step ->
                  step instanceof Operator.TiedScores
                      ? product
                      : step instanceof Operator.TiedEmbedding ? words : step)
              .toList();
      boolean scores = head.steps().stream().anyMatch(Operator.TiedScores.class::isInstance);
      Layer own =
          new Layer(
              head.name(),
              scores ? product : head.operator(),
              head.output(),
              head.parameters() + table.numbers,
              head.outputElements(),
              head.keptElements(),
              head.work());
      layers.set(table.copyLayer, own.computing(steps));
    }
    return new LayerGraph(graph.name(), layers, graph.edges());
  }
}
