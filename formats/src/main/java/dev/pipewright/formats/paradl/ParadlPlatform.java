package dev.pipewright.formats.paradl;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.BytesPerSecond;
import dev.pipewright.units.FlopsPerSecond;
import dev.pipewright.units.Range;
import dev.pipewright.units.Seconds;
import dev.pipewright.zoo.Clusters;
import java.nio.file.Path;
import java.util.List;

/**
 * Reads the platform files of ParaDL's oracle ({@code .plat}): six lines whose order says what they
 * are.
 *
 * <pre>
 * MEM_PER_NODE|16e9|Bytes       of one device
 * NODE_SPEED|7.8E12|FLOPS       of one device
 * BANDWIDTH|12.5E9|Bps          of a link, in bytes
 * LATENCY|500E-9|second         of a link
 * MAX_NODE|4096|GPUs            devices in all
 * GPU_PER_NODE|4|GPUs           devices of one node
 * </pre>
 *
 * <p>The file knows one link, so the nodes and the cluster that joins them get the same one, for
 * single messages and for rings. (The authors' program has its links' constants in its source and
 * reads these two in vain.) It knows one peak rate, taken for both precisions, and nothing about
 * the rate of a device's memory, taken to be a V100's.
 */
public final class ParadlPlatform {
  private static final List<String> NAMES =
      List.of("MEM_PER_NODE", "NODE_SPEED", "BANDWIDTH", "LATENCY", "MAX_NODE", "GPU_PER_NODE");
  private static final List<String> MEANINGS =
      List.of(
          "bytes of memory",
          "FLOP per second",
          "bytes per second",
          "seconds of latency",
          "number of devices",
          "number of devices of a node");
  private static final int MOST_DEVICES = 1_000_000;

  private final Path file;
  private final List<BarLine> lines;

  private ParadlPlatform(Path file, List<BarLine> lines) {
    this.file = file;
    this.lines = lines;
  }

  /** Throws {@link BadInputException} when the file is no such platform. */
  public static Cluster read(Path file) {
    return new ParadlPlatform(file, BarLine.all(file, "a ParaDL platform")).cluster();
  }

  private Cluster cluster() {
    checkLines();
    String name = String.valueOf(file.getFileName()).replaceFirst("(?<=.)\\.plat$", "");
    Bytes memory = Bytes.of(Math.max(1, positive(0, Range.BYTES)));
    FlopsPerSecond peak = new FlopsPerSecond(positive(1, Range.FLOP_PER_SECOND));
    BytesPerSecond memoryRate = Clusters.v100().memoryBandwidth();
    DeviceKind kind = new DeviceKind(name + " device", memory, peak, peak, memoryRate);
    BytesPerSecond bandwidth = new BytesPerSecond(positive(2, Range.BYTES_PER_SECOND));
    Link link = new Link(new Seconds(amount(3, Range.SECONDS)), bandwidth);
    int devices = count(4);
    int ofNode = count(5);
    if (devices % ofNode != 0) {
      throw lines
          .get(5)
          .mistake(
              "nodes of %d devices do not divide the %d devices of line %d; give a divisor"
                  .formatted(ofNode, devices, lines.get(4).number()));
    }
    List<Level> levels = List.of(new Level("node", link, link), new Level("cluster", link, link));
    return Cluster.uniform(name, kind, levels, ofNode, devices / ofNode);
  }

  private void checkLines() {
    for (int i = 0; i < lines.size() && i < NAMES.size(); i++) {
      BarLine line = lines.get(i);
      int place = NAMES.indexOf(line.field(0));
      if (place >= 0 && place != i) {
        throw line.mistake(
            "%s stands where %s belongs; the order of the lines is %s"
                .formatted(line.field(0), NAMES.get(i), String.join(", ", NAMES)));
      }
      if (line.fields().size() < 2 || line.fields().size() > 3) {
        throw line.mistake(
            "is no line of a platform; write name, %s and unit, like \"%s|…|…\""
                .formatted(MEANINGS.get(i), NAMES.get(i)));
      }
    }
    BarLine last = lines.get(Math.min(lines.size(), NAMES.size()) - 1);
    if (lines.size() < NAMES.size()) {
      String missing = String.join(", ", NAMES.subList(lines.size(), NAMES.size()));
      throw last.mistake("the file ends after this line; add " + missing);
    }
    if (lines.size() > NAMES.size()) {
      throw lines
          .get(NAMES.size())
          .mistake("is one line too many; a platform has six: " + String.join(", ", NAMES));
    }
  }

  private double amount(int index, Range range) {
    return lines.get(index).amount(lines.get(index).field(1), MEANINGS.get(index), range);
  }

  private double positive(int index, Range range) {
    return lines.get(index).positive(lines.get(index).field(1), MEANINGS.get(index), range);
  }

  private int count(int index) {
    BarLine line = lines.get(index);
    return (int) line.count(line.field(1), MEANINGS.get(index), MOST_DEVICES);
  }
}
