package dev.pipewright.runtime.engine;

import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.tensor.Tensor;
import java.util.List;
import java.util.SequencedMap;

/**
 * A parameter of a stage that another stage has, too, on a worker whose steps flow. Its versions
 * lag behind those of the stage's other parameters: an update is applied when a pass meets it.
 */
final class TiedCopy implements AutoCloseable {
  private final int depth;
  private final List<Parameter> learnt; // the parameter; none where training is emulated
  private final TiedExchange exchange;
  private final Updates updates;
  private final WeightVersions versions;
  private int handed; // updates
  private int oldest; // version that is needed

  TiedCopy(WorkerSetup setup, int depth, Parameter parameter, TiedExchange exchange) {
    this.depth = depth;
    this.learnt = setup.learnt(List.of(parameter));
    this.exchange = exchange;
    this.updates = setup.updates(learnt);
    this.versions = new WeightVersions(learnt);
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
    for (Parameter parameter : learnt) {
      Tensor value = parameter.value();
      value.setGradient(sum.reshaped(value.shape()));
      updates.apply(learnt);
      value.clearGradient();
    }
  }

  /** Hands the stage's gradient of an update on. */
  void hand(int update) {
    exchange.hand(depth, update, this::moveGradient);
    handed = update + 1;
  }

  private void moveGradient(Tensor room) {
    for (Parameter parameter : learnt) {
      room.copyInPlace(parameter.value().gradient().orElseThrow().flattened(0));
    }
  }

  /** Learns all that there is. */
  void finish() {
    learnUpTo(handed);
    versions.use(handed);
  }

  SequencedMap<String, Tensor> state() {
    return StageState.of(learnt, updates, List.of());
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
