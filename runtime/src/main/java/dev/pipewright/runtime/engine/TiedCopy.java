package dev.pipewright.runtime.engine;

import dev.pipewright.execution.TrainingRequest.UpdateRule;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;
import java.util.SequencedMap;

/**
 * A parameter of a stage that another stage has, too, on a worker whose steps flow. Its versions
 * are behind those of the stage's other parameters: an update is learnt when a pass meets it.
 */
final class TiedCopy implements AutoCloseable {
  private final int depth;
  private final Parameter parameter;
  private final TiedExchange exchange;
  private final Updates updates;
  private final WeightVersions versions;
  private int handed; // updates
  private int oldest; // version that is needed

  TiedCopy(int depth, Parameter parameter, TiedExchange exchange, UpdateRule rule) {
    this.depth = depth;
    this.parameter = parameter;
    this.exchange = exchange;
    this.updates = new Updates(rule, List.of(parameter));
    this.versions = new WeightVersions(List.of(parameter));
  }

  /** Goes on with what there is as the first version. */
  void begin() {
    versions.restart();
    handed = 0;
  }

  /** Says which micro-batch is the oldest under way. */
  void unfinished(int microBatch) {
    oldest = exchange.version(microBatch);
  }

  /** Says that no micro-batch will follow. */
  void allFinished() {
    oldest = Integer.MAX_VALUE;
  }

  /** Has the layers compute with the version that a micro-batch meets. */
  void use(int microBatch) {
    int version = exchange.version(microBatch);
    learnUpTo(version);
    versions.use(version);
  }

  private void learnUpTo(int version) {
    while (versions.newest() < version) {
      int update = versions.newest();
      versions.next(oldest, () -> exchange.take(update, this::learn));
    }
  }

  private void learn(Tensor sum) {
    Tensor value = parameter.value();
    value.setGradient(sum.reshaped(value.shape()));
    updates.apply(List.of(parameter));
    value.clearGradient();
  }

  /** Hands the stage's gradient of an update on. */
  void hand(int update) {
    exchange.hand(
        depth,
        update,
        room -> room.copyInPlace(parameter.value().gradient().orElseThrow().flattened(0)));
    handed = update + 1;
  }

  /** Learns all that there is. */
  void finish() {
    learnUpTo(handed);
    versions.use(handed);
  }

  SequencedMap<String, Tensor> state() {
    return StageState.of(List.of(parameter), updates, List.of());
  }

  void continueAfter(long before) {
    updates.continueAfter(before);
  }

  long olderBytes() {
    return versions.olderBytes();
  }

  void count(LiveBytes live) {
    versions.count(live);
    updates.count(live);
  }

  @Override
  public void close() {
    versions.close();
    updates.close();
  }
}
