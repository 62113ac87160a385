package dev.pipewright.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.cluster.Link;
import dev.pipewright.profile.CollectiveTiming.Kind;
import dev.pipewright.profile.Outliers.Outlier;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * One disturbed timing is found wherever it stands; jumps, falls and noise are not disturbances.
 */
class OutliersTest {
  private static final Link LINK = Link.of(1e-5, 1e11);

  private static CollectiveTiming timing(double bytes, double seconds) {
    return new CollectiveTiming(Kind.POINT_TO_POINT, 2, bytes, seconds);
  }

  /** 25 sizes by doubling, each measured so often, up to {@code noise} slower than the link. */
  private static List<CollectiveTiming> timings(int each, double noise, SplittableRandom random) {
    List<CollectiveTiming> timings = new ArrayList<>();
    for (int i = 0; i < 25; i++) {
      double bytes = 8L << i;
      for (int j = 0; j < each; j++) {
        timings.add(timing(bytes, LINK.seconds(bytes) * (1 + noise * random.nextDouble())));
      }
    }
    return timings;
  }

  private static List<Integer> indices(List<CollectiveTiming> timings) {
    return Outliers.of(timings).stream().map(Outlier::index).toList();
  }

  @ParameterizedTest
  @ValueSource(doubles = {1e-6, 0.1, 0.15, 6.5, 13, 1000})
  void oneDisturbedTimingIsFoundAtEverySize(double ratio) {
    for (int index = 0; index < 50; index++) {
      List<CollectiveTiming> timings = timings(2, 0.1, new SplittableRandom(index));
      CollectiveTiming old = timings.get(index);
      timings.set(index, timing(old.bytes(), old.seconds() * ratio));
      List<Outlier> found = Outliers.of(timings);
      assertEquals(List.of(index), found.stream().map(Outlier::index).toList());
      assertTrue(found.get(0).ratio() > 1 == ratio > 1, found.toString());
    }
  }

  @Test
  void oneSlowTimingOfSizesThatWereMeasuredOnceIsFound() {
    for (int index = 0; index < 24; index++) { // nothing confirms the last
      List<CollectiveTiming> timings = timings(1, 0, new SplittableRandom(0));
      timings.set(index, timing(timings.get(index).bytes(), 20 * timings.get(index).seconds()));
      assertEquals(List.of(index), indices(timings));
    }
  }

  @RepeatedTest(50)
  void noiseIsNoDisturbance(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    assertEquals(List.of(), indices(timings(2, 1.9, random)));
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.05, 20})
  void anotherProtocolIsNoDisturbance(double factor) {
    for (int from = 2; from < 24; from++) {
      List<CollectiveTiming> timings = new ArrayList<>();
      for (CollectiveTiming timing : timings(1, 0, new SplittableRandom(0))) {
        boolean other = timing.bytes() >= 8L << from;
        timings.add(timing(timing.bytes(), timing.seconds() * (other ? factor : 1)));
      }
      assertEquals(List.of(), indices(timings), "from size " + from);
    }
  }

  @Test
  void whereManyAreOffNoneIsAnOutlier() {
    List<CollectiveTiming> timings = timings(2, 0, new SplittableRandom(0));
    for (int i = 0; i < timings.size(); i += 6) {
      timings.set(i, timing(timings.get(i).bytes(), 50 * timings.get(i).seconds()));
    }
    assertEquals(List.of(), indices(timings));
  }

  @Test
  void collectivesAndNumbersOfDevicesAreNotCompared() {
    List<CollectiveTiming> timings = timings(2, 0, new SplittableRandom(0));
    timings.add(new CollectiveTiming(Kind.ALL_REDUCE, 2, 64, 1));
    timings.add(new CollectiveTiming(Kind.ALL_REDUCE, 4, 64, 50));
    assertEquals(List.of(), indices(timings));
  }
}
