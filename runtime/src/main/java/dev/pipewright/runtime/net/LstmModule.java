package dev.pipewright.runtime.net;

import dev.pipewright.runtime.tensor.Functions;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * A recurrent layer over a whole sequence, which reads the first features of each step. The second
 * part of a split backward pass runs back through all steps once more, since the recurrence ties
 * weights and states together.
 */
final class LstmModule implements Module {
  private final List<Parameter> weights = new ArrayList<>();
  private final int in;
  private final int hidden;

  LstmModule(int in, int hidden, boolean bidirectional, FirstValues values) {
    this.in = in;
    this.hidden = hidden;
    double bound = 1 / Math.sqrt(hidden);
    for (String direction : bidirectional ? List.of("forward", "backward") : List.of("forward")) {
      weights.add(values.uniform(direction + ".input", bound, 4L * hidden, in));
      weights.add(values.uniform(direction + ".state", bound, 4L * hidden, hidden));
      weights.add(values.uniform(direction + ".input.bias", bound, 4L * hidden));
      weights.add(values.uniform(direction + ".state.bias", bound, 4L * hidden));
    }
  }

  @Override
  public List<Parameter> parameters() {
    return weights;
  }

  @Override
  public Tensor forward(List<Tensor> inputs, ForwardPass pass) {
    Tensor input = inputs.get(0);
    Tensor read = input.extent(2) == in ? input : input.part(2, 0, in);
    List<Tensor> values = weights.stream().map(Parameter::value).toList();
    return pass.used(Functions.lstm(read, values, hidden), weights);
  }
}
