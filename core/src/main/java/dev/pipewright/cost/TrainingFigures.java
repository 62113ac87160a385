package dev.pipewright.cost;

import dev.pipewright.model.Training;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * What every answer says of the training that it is about.
 *
 * @param reserve share of the memory that plans leave free; empty where devices differ in it
 * @param globalBatch samples of an update
 * @param microBatchPerRank samples that a device of each stage computes at once: what Megatron,
 *     DeepSpeed and torchtitan call the micro-batch. The largest, where devices' shares differ
 * @param throughput empty where nothing says how long a step takes
 */
public record TrainingFigures(
    Training training,
    OptionalDouble reserve,
    long globalBatch,
    List<Integer> microBatchPerRank,
    Optional<Throughput> throughput) {
  public TrainingFigures {
    microBatchPerRank = List.copyOf(microBatchPerRank);
  }

  /**
   * Of a workload that processes so many samples in so many seconds.
   *
   * @param seconds of the global batch; not finite or 0 where nothing says so
   * @param devices that take part
   */
  public static TrainingFigures of(
      Workload workload,
      long globalBatch,
      List<Integer> microBatchPerRank,
      double seconds,
      int devices) {
    boolean timed = seconds > 0 && Double.isFinite(seconds);
    return new TrainingFigures(
        workload.training(),
        workload.cluster().reserve(),
        globalBatch,
        microBatchPerRank,
        timed
            ? Optional.of(Throughput.of(workload, globalBatch / seconds, devices))
            : Optional.empty());
  }

  /** The largest of all stages. */
  public int largestMicroBatch() {
    return microBatchPerRank.stream().mapToInt(Integer::intValue).max().orElse(0);
  }
}
