package dev.pipewright.runtime.engine;

import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/** All that training changes of a stage, by names that are unique in the network. */
final class StageState {
  private StageState() {}

  static SequencedMap<String, Tensor> of(
      List<Parameter> parameters, Updates updates, List<Parameter> averages) {
    SequencedMap<String, Tensor> state = new LinkedHashMap<>();
    for (Parameter parameter : parameters) {
      state.put(parameter.name(), parameter.value());
      int number = 0;
      for (Tensor moment : updates.moments(parameter.name())) {
        state.put(parameter.name() + "/moment-" + number++, moment);
      }
    }
    averages.forEach(average -> state.put(average.name(), average.value()));
    return state;
  }
}
