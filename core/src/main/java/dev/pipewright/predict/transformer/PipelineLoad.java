package dev.pipewright.predict.transformer;

/**
 * How the micro-batches of a step load a pipeline: {@link StepTime#load} sets it. An object serves
 * one micro-batch after the other, so that searches allocate nothing.
 */
final class PipelineLoad {
  private int batches;
  private double longest;
  private double sum;
  private double bubble;
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

  /**
   * Seconds in which the slowest rank waits for others: of 1F1B and its interleaved form.
   *
   * @param chunks of a rank
   */
  void bubbleOf(int chunks) {
    bubble = (sum - longest) / chunks;
  }

  /** Sets the seconds in which the slowest rank waits for others. */
  void bubble(double seconds) {
    bubble = seconds;
  }

  /** Seconds in which the slowest rank waits for others. */
  double bubble() {
    return bubble;
  }

  /** Micro-batches of a step. */
  int batches() {
    return batches;
  }

  /** Seconds of a micro-batch on the slowest rank. */
  double longest() {
    return longest;
  }

  /** The kind of the slowest rank; the first of several. */
  int slowest() {
    return slowest;
  }
}
