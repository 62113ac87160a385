package dev.pipewright.runtime.engine;

import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.tensor.Gradients;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.tensor.TensorArena;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Versions of a stage's parameters: the newest, and older ones as long as a pass needs them. A
 * version is how many updates it has seen.
 *
 * <p>D. Narayanan et al., <i>PipeDream</i>, SOSP 2019, §3.3 calls this weight stashing. A forward
 * pass keeps the tensors that it has met for its backward pass, so these must not change under it.
 */
final class WeightVersions implements AutoCloseable {
  private final List<Tensor> values; // with which the layers compute: those of one version
  private final int own; // of these; aliases follow
  private final List<Integer> same = new ArrayList<>(); // the values that aliases lie in
  private final SortedMap<Integer, List<Tensor>> versions = new TreeMap<>();
  private int most = 1;

  WeightVersions(List<Parameter> parameters) {
    this(parameters, Map.of());
  }

  /**
   * Versions of parameters, and of others that lie in the memory of one of them.
   *
   * @param aliases from each of the others to that one
   */
  WeightVersions(List<Parameter> parameters, Map<Parameter, Parameter> aliases) {
    own = parameters.size();
    values = new ArrayList<>(parameters.stream().map(Parameter::value).toList());
    aliases.forEach((alias, parameter) -> {
      TensorArena.alias(alias.value(), parameter.value());
      values.add(alias.value());
      same.add(parameters.indexOf(parameter));
    });
    restart();
  }

  /** Counts the newest, which is the only one, as version 0. */
  void restart() {
    forgetBefore(Integer.MAX_VALUE);
    versions.put(0, values.stream().map(Tensor::shared).toList());
  }

  int newest() {
    return versions.lastKey();
  }

  /** The most versions that ever existed at once. */
  int most() {
    return most;
  }

  /** Adds all versions. */
  void count(LiveBytes live) {
    versions.values().forEach(version -> live.add(LiveBytes.Kind.PARAMETERS, version));
  }

  /** The bytes of older versions. */
  long olderBytes() {
    long bytes = values.subList(0, own).stream().mapToLong(Tensor::bytes).sum();
    return (versions.size() - 1) * bytes;
  }

  /** Has the layers compute with a version. */
  void use(int version) {
    List<Tensor> chosen = version(version);
    for (int i = 0; i < values.size(); i++) {
      values.get(i).become(chosen.get(i));
    }
  }

  private List<Tensor> version(int number) {
    List<Tensor> found = versions.get(number);
    if (found == null) {
      throw new IllegalStateException(
          "version %d of %s is gone".formatted(number, versions.keySet()));
    }
    return found;
  }

  /**
   * Makes the next version of the newest, and has the layers compute with it.
   *
   * @param change of the parameters in place, once they may be changed
   * @param oldest version that is needed from here on
   */
  void next(int oldest, Runnable change) {
    int newest = newest();
    use(newest); // what the layers compute with would otherwise outlive its version
    forgetBefore(Math.min(oldest, newest));
    if (oldest <= newest) {
      versions.put(newest + 1, copies(version(newest)));
    } else {
      versions.put(newest + 1, version(newest));
      versions.remove(newest);
    }
    most = Math.max(most, versions.size());
    use(newest + 1);
    change.run();
  }

  private List<Tensor> copies(List<Tensor> version) {
    List<Tensor> copies = new ArrayList<>();
    try (Scope scope = new Scope()) {
      for (Tensor each : version.subList(0, own)) {
        copies.add(scope.keep(Gradients.without(each::copy).withGradient()));
      }
      for (int number : same) {
        copies.add(scope.keep(copies.get(number).detached().withGradient()));
      }
    }
    return copies;
  }

  private void forgetBefore(int oldest) {
    SortedMap<Integer, List<Tensor>> spent = versions.headMap(oldest);
    spent.values().forEach(version -> version.forEach(Tensor::close));
    spent.clear();
  }

  @Override
  public void close() {
    forgetBefore(Integer.MAX_VALUE);
  }
}
