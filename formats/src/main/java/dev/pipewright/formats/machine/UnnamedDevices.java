package dev.pipewright.formats.machine;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.BytesPerSecond;
import dev.pipewright.units.FlopsPerSecond;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One machine whose devices have no data sheet: {@code gpus:4}, or {@code processor:16}, which is
 * one device of 16 cores. Their rates are assumed, and matter for networks that were not measured
 * on them; their memory is for the user to say.
 */
public final class UnnamedDevices {
  private static final Pattern NAME = Pattern.compile("(gpus|processor):([1-9]\\d{0,3})");
  private static final String GPUS = "gpus:";
  private static final String PROCESSOR = "processor:";

  /** PCIe 4.0 with 16 lanes: 32 GB/s one way, of which copies between GPUs achieve about 80 %. */
  private static final Link PCIE = Link.of(1e-5, 25e9);

  private static final Bytes MEMORY = Bytes.gib(16);

  /** A100's: 19.5 TFLOP/s in 32 bits, 312 in 16, 2 TB/s. */
  private static final DeviceKind GPU =
      new DeviceKind(
          "GPU",
          MEMORY,
          new FlopsPerSecond(19.5e12),
          new FlopsPerSecond(312e12),
          new BytesPerSecond(2.0e12));

  private static final double OF_A_CORE = 50e9; // FLOP/s: two vector units of 256 bits at 1.6 GHz
  private static final BytesPerSecond OF_DIMMS = new BytesPerSecond(40e9);

  private UnnamedDevices() {}

  /** The name of so many GPUs. */
  public static String gpus(int count) {
    return GPUS + count;
  }

  /** The name of a processor of so many cores. */
  public static String processor(int cores) {
    return PROCESSOR + cores;
  }

  /** The cluster of such a name. */
  public static Optional<Cluster> find(String name) {
    Matcher matcher = NAME.matcher(name);
    if (!matcher.matches()) {
      return Optional.empty();
    }
    int count = Integer.parseInt(matcher.group(2));
    boolean gpus = name.startsWith(GPUS);
    FlopsPerSecond rate = new FlopsPerSecond(OF_A_CORE * count);
    DeviceKind processor = new DeviceKind("processor", MEMORY, rate, rate, OF_DIMMS);
    return Optional.of(
        Cluster.uniform(
            name,
            gpus ? GPU : processor,
            List.of(new Level("machine", PCIE, PCIE)),
            gpus ? count : 1));
  }
}
