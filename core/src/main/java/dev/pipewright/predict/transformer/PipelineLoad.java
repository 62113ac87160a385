package dev.pipewright.predict.transformer;

/**
 * How the micro-batches of a step load a pipeline. An object serves one micro-batch after the
 * other, so that searches allocate nothing.
 */
final class PipelineLoad {
  private int batches;
  private double longest;
  private double sum;
  private int slowest;

  /** Of {@code batches} such micro-batches on a pipeline with such ranks. */
  static PipelineLoad of(StageKinds kinds, MicroBatchSeconds one, int batches) {
    PipelineLoad load = new PipelineLoad();
    load.set(kinds, one, batches);
    return load;
  }

  void set(StageKinds kinds, MicroBatchSeconds one, int microBatches) {
    batches = microBatches;
    longest = one.total(kinds.rank(0));
    sum = kinds.count(0) * longest;
    slowest = 0;
    for (int kind = 1; kind < kinds.size(); kind++) {
      double seconds = one.total(kinds.rank(kind));
      sum += kinds.count(kind) * seconds;
      if (seconds > longest) {
        longest = seconds;
        slowest = kind;
      }
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
