package dev.pipewright.app.cli.predict;

import dev.pipewright.app.cli.input.AtLeast;
import dev.pipewright.app.cli.input.OptionValues;
import dev.pipewright.cluster.Cluster;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.predict.paradl.BatchScaling;
import java.util.List;
import java.util.OptionalInt;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How many devices {@code predict} is to take, and how large a batch. */
final class ScaleFlags {
  private static final int MOST_BY_DEFAULT = 1024;

  @Option(
      names = "--devices",
      paramLabel = "LIST",
      description =
          "Numbers of devices, like 16,64; powers of two up to the cluster otherwise; with a stated"
              + " layout all of it, or those of --data.")
  private @Nullable String devices;

  @Option(
      names = "--batch-per-device",
      paramLabel = "N",
      description =
          "Weak scaling: samples per iteration for each device. Default: 32 images or rows of"
              + " features, 1 sequence or volume; for a file what its times were measured with.")
  private @Nullable Integer batchPerDevice;

  @Option(
      names = "--global-batch",
      paramLabel = "N",
      description = "Strong scaling: samples per iteration over all devices.")
  private @Nullable Integer globalBatch;

  /** Throws {@link BadInputException} where both batches are given or one is out of range. */
  void checkBatch() {
    if (batchPerDevice != null && globalBatch != null) {
      throw new BadInputException(
          "--batch-per-device and --global-batch exclude each other; give one of them");
    }
    AtLeast.optional("--batch-per-device", batchPerDevice);
    AtLeast.optional("--global-batch", globalBatch);
  }

  /** The numbers of devices, ascending; powers of two where none are given. */
  List<Integer> counts(Cluster cluster) {
    if (devices != null) {
      return given(devices, cluster);
    }
    TreeSet<Integer> counts = new TreeSet<>();
    for (int count = 1; count <= Math.min(cluster.size(), MOST_BY_DEFAULT); count *= 2) {
      counts.add(count);
    }
    return List.copyOf(counts);
  }

  /** The numbers of devices of a layout, ascending: its own, those given, or the whole cluster. */
  List<Integer> counts(Cluster cluster, OptionalInt ofLayout) {
    if (ofLayout.isEmpty()) {
      return devices == null ? List.of(cluster.size()) : given(devices, cluster);
    }
    int count = ofLayout.getAsInt();
    if (devices != null && !given(devices, cluster).equals(List.of(count))) {
      throw new BadInputException(
          "--devices: the layout takes %d, not %s; correct one of them".formatted(count, devices));
    }
    return given(Integer.toString(count), cluster);
  }

  private static List<Integer> given(String list, Cluster cluster) {
    TreeSet<Integer> counts = new TreeSet<>();
    for (String word : list.split(",", -1)) {
      int count = OptionValues.count("--devices", word.strip());
      if (count > cluster.size()) {
        throw new BadInputException(
            "--devices: %d are more than the cluster %s has; give at most %d or a larger cluster"
                .formatted(count, cluster.name(), cluster.size()));
      }
      counts.add(count);
    }
    return List.copyOf(counts);
  }

  /** The most samples that a device can be given at once, where so many devices are the most. */
  int largestSlice(int mostDevices) {
    long largest =
        globalBatch != null
            ? globalBatch
            : batchPerDevice == null ? 1024 : (long) batchPerDevice * mostDevices;
    return (int) Math.min(1024, largest);
  }

  /** The batch; {@code usual} samples for each device where none is given. */
  BatchScaling batch(int usual) {
    if (globalBatch != null) {
      return BatchScaling.global(globalBatch);
    }
    return BatchScaling.perDevice(batchPerDevice == null ? usual : batchPerDevice);
  }

  /** Samples of a step on so many devices; throws where no batch is given. */
  int globalBatch(int devices) {
    if (globalBatch == null && batchPerDevice == null) {
      throw new BadInputException(
          "--global-batch is missing; give the sequences of a step, or --batch-per-device");
    }
    return Math.toIntExact(batch(1).on(devices));
  }
}
