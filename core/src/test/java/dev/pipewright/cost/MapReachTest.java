package dev.pipewright.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.model.Layer;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Operator;
import dev.pipewright.model.Operator.Convolution;
import dev.pipewright.model.Operator.Normalization;
import dev.pipewright.model.Shape;
import dev.pipewright.model.Work;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Counted by hand: maps of 9 rows and 8 columns, of which two workers have 5 and 4 rows. */
class MapReachTest {
  private static final Parallelism ROWS = new Parallelism(Kind.SPATIAL, List.of(2, 1));

  private static MapReach reach(int kernel, int padding) {
    List<Integer> ones = List.of(1, 1);
    Operator convolution =
        new Convolution(
            3, 6, List.of(kernel, kernel), ones, List.of(padding, padding), ones, 1, false);
    Operator averages = new Normalization(Normalization.Kind.BATCH, 6);
    Layer read = layer("read", new Convolution(1, 3, ones, ones, List.of(0, 0), ones, 1, true), 3);
    Layer layer = layer("layer", convolution, 6).then(averages);
    return MapReach.of(LayerGraph.chain("two", List.of(read, layer)), 1, ROWS);
  }

  private static Layer layer(String name, Operator operator, int channels) {
    return new Layer(name, operator, Optional.of(Shape.of(channels, 9, 8)), 1, 1, 1, Work.NONE);
  }

  @Test
  void windowsReachOverARowOfTheOtherAndOneOfPadding() {
    MapReach reach = reach(3, 1);
    assertEquals(3 * (1 + 5 + 1) * 8, reach.elements());
    assertEquals(2 * 6 * 5 * 8, reach.averages());
    assertEquals(reach.elements() + reach.averages(), reach.beside());
    assertEquals(7.0 / 5, reach.places(), 1e-12);
    assertEquals(4 * reach.elements(), reach.moved());
  }

  @Test
  void windowsOfOnePlaceReachOverNothing() {
    MapReach reach = reach(1, 0);
    assertEquals(0, reach.moved());
    assertEquals(2 * 6 * 5 * 8, reach.beside()); // of the averages
    assertEquals(1, reach.places());
  }
}
