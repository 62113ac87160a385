package dev.pipewright.runtime.net;

import dev.pipewright.model.Operator;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;

/** A learned vector added to each step's features: its position's, or the first segment's. */
final class AddedVectorsModule implements Module {
  private final Parameter vectors;
  private final boolean perStep;
  private final long first;

  private AddedVectorsModule(Parameter vectors, boolean perStep, long first) {
    this.vectors = vectors;
    this.perStep = perStep;
    this.first = first;
  }

  /**
   * Of positions.
   *
   * @param first of them that the module reads
   */
  static Module of(Operator.Positions operator, FirstValues values, long first) {
    return new AddedVectorsModule(
        values.normal("positions", operator.steps(), operator.features()), true, first);
  }

  /** Samples name no segments: all of their tokens lie in the first. */
  static Module of(Operator.Segments operator, FirstValues values) {
    return new AddedVectorsModule(
        values.normal("segments", operator.segments(), operator.features()), false, 0);
  }

  @Override
  public List<Parameter> parameters() {
    return List.of(vectors);
  }

  @Override
  public Tensor forward(List<Tensor> inputs, ForwardPass pass) {
    Tensor states = inputs.get(0);
    Tensor added = vectors.value().part(0, first, perStep ? states.extent(1) : 1);
    return pass.used(states.plus(added), parameters());
  }
}
