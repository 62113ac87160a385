package dev.pipewright.zoo;

import dev.pipewright.model.LayerGraph;
import dev.pipewright.model.Training;
import dev.pipewright.units.Check;

/**
 * A network of the zoo and how its source trains it.
 *
 * @param name what {@link Models#find} finds it by
 * @param training optimizer and precision of the source's experiments
 * @param samples the slice that the source measured it with; a default where the user gives none
 * @param source the publications that its shapes and its training come from
 */
public record ZooModel(
    String name, LayerGraph graph, Training training, int samples, String source) {
  public ZooModel {
    Check.that(samples >= 1, "a slice has samples: model=%s, samples=%d", name, samples);
  }
}
