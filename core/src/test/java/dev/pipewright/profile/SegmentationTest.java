package dev.pipewright.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.profile.RelativeLine.Fitted;
import dev.pipewright.profile.Segmentation.Piece;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class SegmentationTest {

  /** Times that jump about, some sizes measured twice. */
  private static TimeCurve random(SplittableRandom random) {
    int points = random.nextInt(6, 17);
    double[] bytes = new double[points];
    double[] seconds = new double[points];
    double size = 1;
    for (int i = 0; i < points; i++) {
      size *= random.nextInt(4) == 0 ? 1 : 1 + random.nextDouble() * 5;
      bytes[i] = size;
      seconds[i] = (1 + size * 0.01) * (0.5 + random.nextDouble());
    }
    return new TimeCurve(bytes, seconds);
  }

  private static Fitted line(TimeCurve times, int first, int end) {
    RelativeLine line = new RelativeLine();
    for (int i = first; i < end; i++) {
      line.add(times.bytes()[i], times.seconds()[i]);
    }
    return line.fitted();
  }

  /** Every way to cut, one piece after the other. */
  private static void everyWay(TimeCurve times, int from, List<Piece> before, List<Double> found) {
    int[] starts = times.sizeStarts();
    int sizes = starts.length - 1;
    if (from == sizes) {
      boolean rises = before.get(before.size() - 1).line().rises();
      if (before.size() == 1 || rises) {
        found.add(Segmentation.criterion(before, times.count()));
      }
      return;
    }
    for (int to = from + 1; to <= sizes; to++) {
      boolean whole = from == 0 && to == sizes;
      Piece piece = new Piece(starts[from], starts[to], line(times, starts[from], starts[to]));
      boolean fits =
          before.isEmpty() || Segmentation.follows(before.get(before.size() - 1), piece, times);
      if ((whole || to - from >= Segmentation.FEWEST)
          && before.size() < Segmentation.MOST_PIECES
          && fits) {
        List<Piece> more = new ArrayList<>(before);
        more.add(piece);
        everyWay(times, to, more, found);
      }
    }
  }

  @RepeatedTest(300)
  void noWayToCutIsBetterThanTheOneFound(RepetitionInfo seed) {
    TimeCurve times = random(new SplittableRandom(seed.getCurrentRepetition()));
    List<Double> found = new ArrayList<>();
    everyWay(times, 0, List.of(), found);
    double least = found.stream().mapToDouble(Double::doubleValue).min().orElseThrow();
    double ours = Segmentation.criterion(Segmentation.best(times), times.count());
    assertEquals(least, ours, 1e-9 * Math.max(1, Math.abs(least)));
  }

  @RepeatedTest(100)
  void piecesCoverAllPointsOnceAndNeverCutASize(RepetitionInfo seed) {
    TimeCurve times = random(new SplittableRandom(1_000 + seed.getCurrentRepetition()));
    int next = 0;
    for (Piece piece : Segmentation.best(times)) {
      assertEquals(next, piece.first());
      next = piece.end();
      assertTrue(next == times.count() || times.bytes()[next] > times.bytes()[next - 1]);
    }
    assertEquals(times.count(), next);
  }

  /** The normal equations of relative errors, solved as they stand. */
  @RepeatedTest(100)
  void aLineSolvesTheNormalEquations(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    RelativeLine line = new RelativeLine();
    double ww = 0;
    double wx = 0;
    double wxx = 0;
    double wy = 0;
    double wxy = 0;
    double points = 10;
    for (int i = 0; i < points; i++) {
      double bytes = 1 + 9 * random.nextDouble();
      double seconds = 1 + bytes * (0.9 + 0.2 * random.nextDouble());
      line.add(bytes, seconds);
      double weight = 1 / (seconds * seconds);
      ww += weight;
      wx += weight * bytes;
      wxx += weight * bytes * bytes;
      wy += weight * seconds;
      wxy += weight * bytes * seconds;
    }
    double slope = (ww * wxy - wx * wy) / (ww * wxx - wx * wx);
    double latency = (wy - slope * wx) / ww;
    double expected = points - latency * wy - slope * wxy; // Σ w y² is the number of points
    Fitted fitted = line.fitted();
    if (latency >= 0) { // otherwise none is allowed
      assertEquals(slope, fitted.secondsPerByte(), 1e-9);
      assertEquals(latency, fitted.latency(), 1e-9);
      assertEquals(expected, fitted.squares(), 1e-9);
    } else {
      assertEquals(0, fitted.latency());
      assertEquals(wxy / wxx, fitted.secondsPerByte(), 1e-9);
      assertEquals(points - wxy * wxy / wxx, fitted.squares(), 1e-9);
    }
  }

  @Test
  void timesThatDoNotGrowMakeAnAlmostFlatLine() {
    Fitted fitted = line(new TimeCurve(new double[] {1, 2, 4}, new double[] {5, 5, 5}), 0, 3);
    assertEquals(5, fitted.seconds(1), 0.01);
    assertEquals(5, fitted.seconds(4), 0.01);
    assertTrue(fitted.secondsPerByte() > 0 && !fitted.rises());
  }

  @Test
  void noMoreThanSomeCutsAreTriedAmongThousandsOfSizes() {
    double[] bytes = new double[5_001];
    Arrays.setAll(bytes, i -> 1_000.0 * (i + 1));
    double[] seconds =
        Arrays.stream(bytes).map(x -> x < 2.5e6 ? 1e-5 + x * 1e-9 : 2e-3 + x * 1e-9).toArray();
    List<Piece> pieces = Segmentation.best(new TimeCurve(bytes, seconds));
    assertTrue(pieces.size() >= 2, pieces.toString());
    assertEquals(5_001, pieces.get(pieces.size() - 1).end());
  }
}
