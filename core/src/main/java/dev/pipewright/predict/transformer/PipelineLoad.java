package dev.pipewright.predict.transformer;

/**
 * How the micro-batches of a step load a pipeline: {@link StepTime#load} sets it. An object serves
 * one micro-batch after the other, so that searches allocate nothing.
 */
final class PipelineLoad {
  private int batches;
  private double longest;
  private double sum;
  private int slowest;

  /** To {@code microBatches} such micro-batches on a pipeline with such ranks. */
  void set(StageKinds kinds, MicroBatchSeconds one, int microBatches) {
    begin(microBatches);
    for (int kind = 0; kind < kinds.size(); kind++) {
      add(kind, kinds.count(kind), one.total(kinds.rank(kind)));
    }
  }

  /** With what sharding by layers adds to the passes of each kind of rank. */
  void set(StageKinds kinds, MicroBatchSeconds one, int microBatches, ShardedTime[] sharded) {
    begin(microBatches);
    for (int kind = 0; kind < kinds.size(); kind++) {
      double exposed = sharded[kind].exposed(one, microBatches);
      add(kind, kinds.count(kind), one.total(kinds.rank(kind)) + exposed);
    }
  }

  private void begin(int microBatches) {
    batches = microBatches;
    longest = 0;
    sum = 0;
    slowest = 0;
  }

  private void add(int kind, int count, double seconds) {
    sum += count * seconds;
    if (seconds > longest) {
      longest = seconds;
      slowest = kind;
    }
  }

  /** Micro-batches of a step. */
  int batches() {
    return batches;
  }

  /** Seconds of a micro-batch on the slowest rank. */
  double longest() {
    return longest;
  }

  /** Seconds of a micro-batch on all ranks. */
  double sum() {
    return sum;
  }

  /** The kind of the slowest rank; the first of several. */
  int slowest() {
    return slowest;
  }
}
