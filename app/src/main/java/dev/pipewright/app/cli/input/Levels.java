package dev.pipewright.app.cli.input;

import dev.pipewright.cluster.Cluster;
import dev.pipewright.cluster.DeviceKind;
import dev.pipewright.cluster.Level;
import dev.pipewright.cluster.Link;
import dev.pipewright.formats.file.Amounts;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.problem.SizeLimits;
import dev.pipewright.planner.pipedream.BandwidthLevel;
import dev.pipewright.units.Bytes;
import dev.pipewright.units.BytesPerSecond;
import dev.pipewright.units.FlopsPerSecond;
import dev.pipewright.units.Range;
import java.util.ArrayList;
import java.util.List;

/**
 * PipeDream's way of naming a cluster: units by level and the bytes per second between them,
 * innermost first.
 */
public record Levels(List<BandwidthLevel> levels) {
  public static final long NO_LIMIT = 1L << 62; // bytes

  /** Each level takes a table of all pairs of places. */
  private static final int MOST_LEVELS = 6;

  public Levels {
    levels = List.copyOf(levels);
  }

  /** Reads {@code 4,4} and {@code 25e9,1e9}. */
  public static Levels parse(String units, String bandwidths) {
    String[] counts = units.split(",", -1);
    String[] rates = bandwidths.split(",", -1);
    if (counts.length > MOST_LEVELS) {
      throw new BadInputException(
          "--levels: names %d levels; take at most %d".formatted(counts.length, MOST_LEVELS));
    }
    List<Integer> sizes = new ArrayList<>();
    for (String count : counts) {
      sizes.add(OptionValues.count("--levels", count.strip()));
    }
    long devices = sizes.stream().mapToLong(Integer::longValue).reduce(1, Levels::times);
    if (devices > SizeLimits.DEVICES) {
      throw new BadInputException(
          "--levels: %s make more devices than can be planned; take at most %d"
              .formatted(units, SizeLimits.DEVICES));
    }
    if (rates.length != counts.length) {
      throw new BadInputException(
          "--bandwidths: has %d where --levels has %d; give one for each level, innermost first, like 25e9,1e9"
              .formatted(rates.length, counts.length));
    }
    List<BandwidthLevel> levels = new ArrayList<>();
    for (int i = 0; i < rates.length; i++) {
      levels.add(new BandwidthLevel(sizes.get(i), rate(rates[i].strip())));
    }
    return new Levels(levels);
  }

  /** A product that stays large once it is. */
  private static long times(long a, long b) {
    return Math.min(a * b, Integer.MAX_VALUE);
  }

  private static double rate(String text) {
    double rate = Amounts.decimal(text);
    if (!Range.BYTES_PER_SECOND.positive(rate)) {
      throw new BadInputException(
          "--bandwidths: '%s' is no rate; give %s, like 25e9"
              .formatted(text, Range.BYTES_PER_SECOND));
    }
    return rate;
  }

  /** The levels of a cluster; throws {@link BadInputException} where it has none such. */
  public static Levels of(Cluster cluster) {
    try {
      return new Levels(BandwidthLevel.of(cluster));
    } catch (IllegalArgumentException e) {
      throw new BadInputException("--cluster: " + e.getMessage());
    }
  }

  /**
   * Devices of which nothing is known but how fast they reach each other, and how much they hold.
   */
  public Cluster cluster(Bytes memory) {
    DeviceKind kind =
        new DeviceKind(
            "device", memory, new FlopsPerSecond(1), new FlopsPerSecond(1), new BytesPerSecond(1));
    List<Level> links = new ArrayList<>();
    int[] units = new int[levels.size()];
    for (int i = 0; i < units.length; i++) {
      Link link = Link.of(0, levels.get(i).bytesPerSecond());
      links.add(new Level("level " + i, link, link));
      units[i] = levels.get(i).units();
    }
    return Cluster.uniform("the plan's levels", kind, links, units);
  }
}
