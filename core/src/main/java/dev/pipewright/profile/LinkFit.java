package dev.pipewright.profile;

import dev.pipewright.cluster.Link;
import dev.pipewright.profile.RelativeLine.Fitted;
import dev.pipewright.profile.Segmentation.Piece;
import dev.pipewright.units.BytesPerSecond;
import dev.pipewright.units.Check;
import dev.pipewright.units.Seconds;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Hockney's constants of a link, from measured collectives: each time is divided into the steps of
 * a ring (ParaDL, Kahira et al., HPDC 2021, §4.3), and the constants are those of one step.
 *
 * @param line one pair of constants for all sizes, with the least squared relative errors
 * @param pieces constants by size; equal to {@code line} where more than one pair is not worth it
 * @param ranges one pair as papers state it: the latency of the messages that are all latency, the
 *     bandwidth of those that are all transfer
 */
public record LinkFit(
    Link line,
    FitQuality lineQuality,
    Link pieces,
    FitQuality piecesQuality,
    Link ranges,
    FitQuality rangesQuality) {

  /** A step is all latency up to so many times the shortest of all. */
  private static final double LATENCY_RANGE = 1.25;

  /** A step is all transfer from this share of the highest rate of all. */
  private static final double BANDWIDTH_RANGE = 0.8;

  /** Where the largest message takes so much less than the smallest, the columns are wrong. */
  private static final double FALL = 2;

  /**
   * Fits timings of any numbers of devices.
   *
   * @throws IllegalArgumentException with a sentence for the user where no constants follow from
   *     the timings
   */
  public static LinkFit of(List<CollectiveTiming> timings) {
    checkSteps(timings);
    TimeCurve times = TimeCurve.of(timings);
    int sizes = times.sizeStarts().length - 1;
    Check.that(
        sizes >= 2,
        "%d timings of %d size say nothing of latency and bandwidth apart; measure several sizes",
        times.count(),
        sizes);
    RelativeLine sums = new RelativeLine();
    for (int i = 0; i < times.count(); i++) {
      sums.add(times.bytes()[i], times.seconds()[i]);
    }
    Fitted one = sums.fitted();
    checkRising(one, times);
    Link line = link(one);
    Link pieces = link(Segmentation.best(times), times);
    Link ranges = ranges(times);
    return new LinkFit(
        line,
        FitQuality.of(line, times),
        pieces,
        FitQuality.of(pieces, times),
        ranges,
        FitQuality.of(ranges, times));
  }

  /** One fit for each number of devices. */
  public static SortedMap<Integer, LinkFit> byDevices(List<CollectiveTiming> timings) {
    checkSteps(timings);
    SortedMap<Integer, LinkFit> fits = new TreeMap<>();
    groups(timings)
        .forEach((devices, group) -> {
          try {
            fits.put(devices, of(group));
          } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(devices + " devices: " + e.getMessage(), e);
          }
        });
    return fits;
  }

  private static SortedMap<Integer, List<CollectiveTiming>> groups(List<CollectiveTiming> timings) {
    return timings.stream()
        .collect(
            Collectors.groupingBy(CollectiveTiming::devices, TreeMap::new, Collectors.toList()));
  }

  private static void checkSteps(List<CollectiveTiming> timings) {
    Check.that(!timings.isEmpty(), "there are no timings; measure several sizes");
    for (CollectiveTiming timing : timings) {
      Check.that(
          timing.kind().hasSteps(),
          "a %s is cut into chunks that its time does not tell; measure all_reduce, all_gather or"
              + " reduce_scatter",
          timing.kind().name().toLowerCase(Locale.ROOT));
      Check.that(
          timing.kind().isCollective() == timings.get(0).kind().isCollective(),
          "point-to-point and collective timings have constants of their own; fit one of them at a"
              + " time");
    }
  }

  /** Times may fall where another protocol sets in, but not from the first to the last. */
  private static void checkRising(Fitted line, TimeCurve times) {
    int last = times.count() - 1;
    Check.that(
        line.rises() || times.seconds()[last] * FALL > times.seconds()[0],
        "times fall with the size: a message of %s bytes takes %s s, one of %s bytes %s s; check"
            + " the columns and measure again",
        times.bytes()[0],
        times.seconds()[0],
        times.bytes()[last],
        times.seconds()[last]);
    Check.that(
        line.rises(),
        "times do not grow with the size up to messages of %.0f bytes; measure larger ones",
        times.bytes()[last]);
  }

  private static Link link(Fitted line) {
    return Link.of(line.latency(), 1 / line.secondsPerByte());
  }

  private static Link link(List<Piece> pieces, TimeCurve times) {
    List<Link.Piece> small = new ArrayList<>();
    for (int i = 0; i + 1 < pieces.size(); i++) {
      Link own = link(pieces.get(i).line());
      double upTo = Segmentation.border(pieces.get(i), pieces.get(i + 1), times);
      small.add(new Link.Piece(upTo, own.latency(), own.bandwidth()));
    }
    Link large = link(pieces.get(pieces.size() - 1).line());
    return new Link(large.latency(), large.bandwidth(), small);
  }

  /** Least squares on each range, relative errors again; the latency first. */
  private static Link ranges(TimeCurve times) {
    double shortest = Double.POSITIVE_INFINITY;
    double highest = 0;
    for (int i = 0; i < times.count(); i++) {
      shortest = Math.min(shortest, times.seconds()[i]);
      highest = Math.max(highest, times.bytes()[i] / times.seconds()[i]);
    }
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < times.count(); i++) {
      double seconds = times.seconds()[i];
      if (seconds <= LATENCY_RANGE * shortest) {
        sum += 1 / seconds;
        squares += 1 / (seconds * seconds);
      }
    }
    double latency = sum / squares;
    double rates = 0;
    double rest = 0;
    for (int i = 0; i < times.count(); i++) {
      double rate = times.bytes()[i] / times.seconds()[i];
      if (rate >= BANDWIDTH_RANGE * highest) {
        rates += rate * rate;
        rest += rate * Math.max(0, 1 - latency / times.seconds()[i]);
      }
    }
    double secondsPerByte = rest > 0 ? rest / rates : 1 / highest;
    return new Link(new Seconds(latency), new BytesPerSecond(1 / secondsPerByte));
  }
}
