package dev.pipewright.planner.pipedream;

import dev.pipewright.model.Chain;
import dev.pipewright.model.Training;
import dev.pipewright.profile.Profile;
import dev.pipewright.units.Check;
import java.util.List;
import java.util.OptionalInt;

/**
 * What PipeDream-2BW is to plan for.
 *
 * @param levels of the cluster, innermost first; all devices are used, or with a given number of
 *     stages as many as equal pipelines can have
 * @param memoryBytes of each device
 * @param globalBatch samples of an update, over all pipelines
 * @param stages of each pipeline, exactly so many; any number otherwise
 */
public record PipeDream2bwSetting(
    Chain chain,
    Profile profile,
    Training training,
    List<BandwidthLevel> levels,
    double memoryBytes,
    int globalBatch,
    OptionalInt stages) {
  public PipeDream2bwSetting {
    levels = List.copyOf(levels);
    Check.that(!levels.isEmpty(), "devices are on a level: levels=%d", levels.size());
    Check.that(
        profile.layers() == chain.graph().size(),
        "the profile must have one entry per layer: entries=%d, layers=%d",
        profile.layers(),
        chain.graph().size());
    Check.that(globalBatch >= 1, "a batch has samples: global_batch=%d", globalBatch);
    Check.that(memoryBytes > 0, "devices have memory: memory_bytes=%s", memoryBytes);
  }

  /** Any number of stages. */
  public PipeDream2bwSetting(
      Chain chain,
      Profile profile,
      Training training,
      List<BandwidthLevel> levels,
      double memoryBytes,
      int globalBatch) {
    this(chain, profile, training, levels, memoryBytes, globalBatch, OptionalInt.empty());
  }

  /** Devices of all levels. */
  public int devices() {
    return levels.stream().mapToInt(BandwidthLevel::units).reduce(1, Math::multiplyExact);
  }

  /** Bytes kept for each byte of weights: the state of training and the second version. */
  double heldPerWeightByte() {
    double weight = profile.precision().bytes();
    return (training.staticBytesPerParameter() + weight) / weight;
  }

  /** The rate of the nearest level that joins devices {@code first..last}. */
  double bytesPerSecond(int first, int last) {
    int size = 1;
    for (BandwidthLevel level : levels) {
      size *= level.units();
      if (first / size == last / size) {
        return level.bytesPerSecond();
      }
    }
    throw new IllegalArgumentException("no level joins devices " + first + " and " + last);
  }
}
