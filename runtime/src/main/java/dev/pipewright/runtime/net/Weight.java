package dev.pipewright.runtime.net;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.TiedTable;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * Holds as many parameters as a layer has, which are never computed with: in one piece, but for a
 * table that two layers read.
 */
record Weight(List<Parameter> parameters) implements Module {
  static Weight of(LayerGraph graph, int number) {
    Layer layer = graph.layer(number);
    List<Parameter> parameters = new ArrayList<>();
    long rest = layer.parameters();
    for (TiedTable table : graph.tiedTables()) {
      rest -= table.layer() == number ? table.numbers() : 0;
      if (table.layer() == number || table.copyLayer() == number) {
        parameters.add(parameter(table(layer), table.numbers()));
      }
    }
    if (rest > 0) {
      parameters.add(parameter(layer.name(), rest));
    }
    return new Weight(parameters);
  }

  private static Parameter parameter(String name, long numbers) {
    return new Parameter(name, Tensor.empty(numbers).withGradient());
  }

  private static String table(Layer layer) {
    return layer.name() + ".table";
  }

  /** The tables of a network that are one and read twice. */
  static List<Tied> tied(LayerGraph graph) {
    return graph.tiedTables().stream()
        .map(table ->
            new Tied(
                table.layer(),
                table(graph.layer(table.layer())),
                table.copyLayer(),
                table(graph.layer(table.copyLayer()))))
        .toList();
  }

  @Override
  public Tensor forward(List<Tensor> inputs, ForwardPass pass) {
    throw new IllegalStateException("a network of sizes alone cannot compute");
  }
}
