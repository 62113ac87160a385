package dev.pipewright.runtime.engine;

import dev.pipewright.runtime.checkpoint.StateNames;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.net.Share;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.Function;

/** All that training changes of a stage, by names that are unique in the network. */
final class StageState {
  static final Share WHOLE = new Share.Whole();

  private StageState() {}

  /**
   * Replaces tensors of a state by what was written.
   *
   * @param shares what a tensor is to the tensor-parallel group, by name
   */
  static void restore(
      Map<String, Tensor> state, Function<String, Share> shares, Worker.Source source) {
    state.forEach((name, own) -> {
      try (Scope scope = new Scope()) {
        Share share = shares.apply(name);
        share.take(own.detached(), source.read(name, share.wholeShape(own.shape())));
      }
    });
  }

  static SequencedMap<String, Tensor> of(
      List<Parameter> parameters, Updates updates, List<Parameter> averages) {
    return of(parameters, updates, averages, Map.of());
  }

  /**
   * The state of a stage with ZeRO.
   *
   * @param shared what is held of parameters that workers share out, by name: their numbers, then
   *     what the rule remembers
   */
  static SequencedMap<String, Tensor> of(
      List<Parameter> parameters,
      Updates updates,
      List<Parameter> averages,
      Map<String, List<Tensor>> shared) {
    SequencedMap<String, Tensor> state = new LinkedHashMap<>();
    for (Parameter parameter : parameters) {
      put(state, parameter, shared.getOrDefault(parameter.name(), held(parameter, updates)));
    }
    averages.forEach(average -> state.put(average.name(), average.value()));
    return state;
  }

  /** Adds what the rule changes of a parameter. */
  static void put(Map<String, Tensor> state, Parameter parameter, List<Tensor> held) {
    state.put(parameter.name(), held.get(0));
    for (int moment = 1; moment < held.size(); moment++) {
      state.put(StateNames.moment(parameter.name(), moment), held.get(moment));
    }
  }

  /** What the rule changes: a parameter, and what it remembers of it. */
  static List<Tensor> held(Parameter parameter, Updates updates) {
    List<Tensor> held = new ArrayList<>();
    held.add(parameter.value());
    held.addAll(updates.moments(parameter.name()));
    return held;
  }

  /** Whole parameters of shards, and what the rule remembers of them, by name; all call it. */
  static Map<String, List<Tensor>> gathered(List<Shard> shards, Updates updates) {
    Map<String, List<Tensor>> gathered = new HashMap<>();
    for (Shard shard : shards) {
      List<Tensor> parts = held(shard.own(), updates);
      for (int number = 0; number < parts.size(); number++) {
        List<Tensor> whole =
            number == 0 && shard.here()
                ? shard.parameters().stream().map(Parameter::value).toList()
                : shard.gathered(parts.get(number));
        for (int i = 0; i < whole.size(); i++) {
          String name = shard.parameters().get(i).name();
          gathered.computeIfAbsent(name, key -> new ArrayList<>()).add(whole.get(i));
        }
      }
      for (Parameter other : shard.tied()) {
        List<Tensor> first = gathered.getOrDefault(shard.parameters().get(0).name(), List.of());
        gathered.put(other.name(), first);
      }
    }
    return gathered;
  }
}
