package dev.pipewright.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Link;
import dev.pipewright.profile.CollectiveTiming.Kind;
import dev.pipewright.units.BytesPerSecond;
import dev.pipewright.units.Seconds;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The referee is a link whose constants are known: timings made from it give them back. */
class LinkFitTest {

  /** 8 bytes to 8 GiB by doubling, twice each, on a ring as ParaDL §4.3 has it. */
  private static List<CollectiveTiming> timings(
      Kind kind, int devices, Link link, double noise, SplittableRandom random) {
    List<CollectiveTiming> timings = new ArrayList<>();
    for (double bytes = 8; bytes <= 0x2p32; bytes *= 2) {
      for (int i = 0; i < 2; i++) {
        double p = devices;
        double seconds =
            switch (kind) {
              case ALL_REDUCE -> 2 * (p - 1) * link.seconds(bytes / p);
              case POINT_TO_POINT -> link.seconds(bytes);
              default -> (p - 1) * link.seconds(bytes / p);
            };
        double error = noise == 0 ? 0 : noise * (2 * random.nextDouble() - 1);
        timings.add(new CollectiveTiming(kind, devices, bytes, seconds * (1 + error)));
      }
    }
    return timings;
  }

  private static List<CollectiveTiming> exact(Kind kind, int devices, Link link) {
    return timings(kind, devices, link, 0, new SplittableRandom(0));
  }

  @ParameterizedTest
  @EnumSource(
      value = Kind.class,
      names = {"ALL_REDUCE", "ALL_GATHER", "REDUCE_SCATTER", "ALL_TO_ALL", "POINT_TO_POINT"})
  void knownConstantsComeBack(Kind kind) {
    for (Link known : new Link[] {Link.of(1e-5, 1e11), Link.of(3e-3, 1e8), Link.of(2e-6, 4e11)}) {
      LinkFit fit = LinkFit.of(exact(kind, 8, known));
      assertEquals(
          known.latency().value(), fit.line().latency().value(), 1e-9 * known.latency().value());
      assertEquals(
          known.bandwidth().value(),
          fit.line().bandwidth().value(),
          1e-9 * known.bandwidth().value());
      assertEquals(List.of(), fit.pieces().small());
      assertEquals(fit.line(), fit.pieces());
      assertTrue(fit.lineQuality().largestError() < 1e-9);
      assertEquals(1, fit.lineQuality().logFit(), 1e-9);
      assertEquals(1, fit.lineQuality().near());
    }
  }

  @Test
  void aLinkWithoutLatencyComesBack() {
    Link fit = LinkFit.of(exact(Kind.ALL_REDUCE, 4, Link.of(0, 1e10))).line();
    assertEquals(0, fit.latency().value(), 1e-15);
    assertEquals(1e10, fit.bandwidth().value(), 10);
  }

  @RepeatedTest(50)
  void noiseMakesNoPieces(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    Link known = Link.of(1e-5, 1e11);
    LinkFit fit = LinkFit.of(timings(Kind.ALL_REDUCE, 8, known, 0.02, random));
    assertEquals(List.of(), fit.pieces().small());
    assertEquals(1e-5, fit.line().latency().value(), 0.01e-5);
    assertEquals(1e11, fit.line().bandwidth().value(), 0.01e11);
  }

  private static Link threePieces() {
    return new Link(
        new Seconds(60e-6),
        new BytesPerSecond(200e9),
        List.of(
            new Link.Piece(4_096, new Seconds(5e-6), new BytesPerSecond(2e9)),
            new Link.Piece(1 << 20, new Seconds(12e-6), new BytesPerSecond(20e9))));
  }

  @RepeatedTest(50)
  void threeKnownPiecesComeBackThroughNoise(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    LinkFit fit = LinkFit.of(timings(Kind.ALL_REDUCE, 8, threePieces(), 0.02, random));
    List<Link.Piece> small = fit.pieces().small();
    assertEquals(2, small.size(), fit.pieces().toString());
    for (int i = 0; i < 2; i++) {
      Link.Piece known = threePieces().small().get(i);
      assertEquals(known.upToBytes(), small.get(i).upToBytes(), known.upToBytes()); // a doubling
      assertEquals(1, small.get(i).latency().value() / known.latency().value(), 0.05);
      assertEquals(1, small.get(i).bandwidth().value() / known.bandwidth().value(), 0.1);
    }
    assertEquals(1, fit.pieces().latency().value() / 60e-6, 0.1);
    assertEquals(1, fit.pieces().bandwidth().value() / 200e9, 0.02);
    assertTrue(fit.piecesQuality().meanError() < 0.0125, fit.piecesQuality().toString());
    assertTrue(fit.piecesQuality().largestError() < 0.045, fit.piecesQuality().toString());
    assertTrue(fit.lineQuality().meanError() > 0.1, fit.lineQuality().toString());
  }

  @Test
  void threeKnownPiecesComeBackExactly() {
    Link fit = LinkFit.of(exact(Kind.ALL_GATHER, 8, threePieces())).pieces();
    assertEquals(2, fit.small().size());
    assertEquals(5e-6, fit.small().get(0).latency().value(), 5e-15);
    assertEquals(20e9, fit.small().get(1).bandwidth().value(), 20);
    assertEquals(60e-6, fit.latency().value(), 60e-15);
    assertEquals(200e9, fit.bandwidth().value(), 200);
  }

  @Test
  void theRangesGiveTheLatencyOfSmallAndTheBandwidthOfLargeMessages() {
    Link ranges = LinkFit.of(exact(Kind.ALL_REDUCE, 8, Link.of(1e-5, 1e11))).ranges();
    assertEquals(1e-5, ranges.latency().value(), 0.05e-5);
    assertEquals(1e11, ranges.bandwidth().value(), 0.01e11);
  }

  @Test
  void numbersOfDevicesOnOneLinkShareTheFitOfEach() {
    Link known = Link.of(1e-5, 1e11);
    List<CollectiveTiming> timings = new ArrayList<>(exact(Kind.ALL_REDUCE, 2, known));
    timings.addAll(exact(Kind.ALL_REDUCE, 3, known));
    timings.addAll(exact(Kind.ALL_GATHER, 8, known));
    assertEquals(List.of(2, 3, 8), List.copyOf(LinkFit.byDevices(timings).keySet()));
    LinkFit.byDevices(timings)
        .values()
        .forEach(fit -> assertEquals(1e-5, fit.line().latency().value(), 1e-14));
    LinkFit whole = LinkFit.of(timings);
    assertEquals(1e-5, whole.line().latency().value(), 1e-14);
    assertEquals(timings.size(), whole.lineQuality().points());
  }

  @Test
  void theErrorsAreThoseOfTheTimes() {
    List<CollectiveTiming> timings = new ArrayList<>();
    for (double[] point : new double[][] {{1, 2}, {10, 3}, {100, 10}, {1_000, 120}}) {
      timings.add(new CollectiveTiming(Kind.POINT_TO_POINT, 2, point[0], point[1]));
    }
    LinkFit fit = LinkFit.of(timings);
    double sum = 0;
    double largest = 0;
    for (CollectiveTiming timing : timings) {
      double error = Math.abs(fit.line().seconds(timing.bytes()) / timing.seconds() - 1);
      sum += error;
      largest = Math.max(largest, error);
    }
    assertEquals(sum / 4, fit.lineQuality().meanError(), 1e-12);
    assertEquals(largest, fit.lineQuality().largestError(), 1e-12);
    assertTrue(largest > 0.01);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      value = {
        "one point       | 8:1                         | say nothing of latency and bandwidth",
        "one size        | 8:1 8:2 8:3                 | say nothing of latency and bandwidth",
        "falling         | 8:10 80:8 800:3 8000:1      | times fall with the size",
        "flat            | 8:1 16:1 32:1 64:1          | times do not grow with the size",
        "slowly falling  | 8:1 16:0.95 32:0.94 64:0.93 | times do not grow with the size",
      })
  void timingsWithoutConstantsAreRefused(String name, String points, String part) {
    List<CollectiveTiming> timings = new ArrayList<>();
    for (String point : points.split(" ", -1)) {
      String[] pair = point.split(":", -1);
      timings.add(
          new CollectiveTiming(
              Kind.ALL_REDUCE, 2, Double.parseDouble(pair[0]), Double.parseDouble(pair[1])));
    }
    assertRefused(part, timings);
  }

  @Test
  void aRiseThatIsOnlyRoundingIsNoBandwidth() {
    RelativeLine line = new RelativeLine();
    line.add(8, 1e-3);
    line.add(1 << 20, Math.nextUp(1e-3));
    RelativeLine.Fitted fitted = line.fitted();
    assertFalse(fitted.rises());
    assertEquals(1e-3 * 1e-3, fitted.secondsPerByte() * (1 << 20), 1e-12);
    RelativeLine rising = new RelativeLine();
    rising.add(8, 1e-3);
    rising.add(1 << 20, 1.01e-3);
    assertTrue(rising.fitted().rises());
  }

  @Test
  void broadcastsAndMixturesAndNothingAreRefused() {
    var broadcast = new CollectiveTiming(Kind.BROADCAST, 2, 8, 1);
    var pair = new CollectiveTiming(Kind.POINT_TO_POINT, 2, 8, 1);
    var ring = new CollectiveTiming(Kind.ALL_REDUCE, 2, 80, 2);
    assertRefused("a broadcast is cut into chunks", List.of(broadcast));
    assertRefused("point-to-point and collective", List.of(pair, ring));
    assertRefused("there are no timings", List.of());
  }

  private static void assertRefused(String part, List<CollectiveTiming> timings) {
    var refusal = assertThrows(IllegalArgumentException.class, () -> LinkFit.of(timings));
    String message = String.valueOf(refusal.getMessage());
    assertTrue(message.contains(part) && message.contains("; "), message);
  }
}
