package dev.pipewright.profile;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.profile.Profile.LayerSizes;
import dev.pipewright.profile.Profile.LayerTimes;
import dev.pipewright.profile.Profile.Quantity;
import dev.pipewright.units.Precision;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProfileTest {
  /** One layer with the given forward seconds by batch; backward passes take twice as long. */
  private static Profile of(List<Integer> batches, double... forward) {
    List<List<LayerTimes>> times = new ArrayList<>();
    for (double seconds : forward) {
      times.add(List.of(new LayerTimes(seconds, 2 * seconds, Double.NaN, 7)));
    }
    return of(batches, times);
  }

  private static Profile of(List<Integer> batches, List<List<LayerTimes>> times) {
    var source = new Provenance("test", "k", "2025-01-01", true);
    return new Profile(source, Precision.FP32, List.of(new LayerSizes(1, 2, 3)), batches, times);
  }

  private static double forward(Profile profile, double slice) {
    return profile.seconds(Quantity.FORWARD, slice)[0];
  }

  @ParameterizedTest(name = "{0} samples take {1} s")
  @CsvSource({"1, 1.5", "2, 3", "4, 6", "0.5, 0.75"})
  void oneMeasurementIsProportional(double slice, double seconds) {
    assertEquals(seconds, forward(of(List.of(2), 3), slice), 1e-12);
  }

  @ParameterizedTest(name = "{0} samples take {1} s")
  @CsvSource({"1, 2", "2, 3", "3, 4", "4, 5", "6, 8", "8, 11", "12, 17"})
  void betweenMeasurementsAndBeyondTimeFollowsALine(double slice, double seconds) {
    assertEquals(seconds, forward(of(List.of(2, 4, 8), 3, 5, 11), slice), 1e-12);
  }

  @Test
  void aSliceBelowTheFirstIsNoCheaperThanItsShare() {
    assertEquals(1, forward(of(List.of(2, 4), 2, 10), 1), 1e-12); // the line says -2
    assertEquals(0.5, forward(of(List.of(2, 4), 2, 10), 0.5), 1e-12);
  }

  private static Profile needing(List<Integer> batches, double... working) {
    List<List<LayerTimes>> times = new ArrayList<>();
    List<List<LayerMemory>> memory = new ArrayList<>();
    for (double bytes : working) {
      times.add(List.of(new LayerTimes(1, 2, 1, 7)));
      memory.add(List.of(new LayerMemory(bytes, 2 * bytes, 3 * bytes)));
    }
    var source = new Provenance("test", "k", "2025-01-01", true);
    return new Profile(
        source, Precision.FP32, List.of(new LayerSizes(1, 2, 3)), batches, times, memory);
  }

  @Test
  void whatLayersNeedFollowsALineBetweenBatches() {
    Profile profile = needing(List.of(2, 4), 100, 140);
    assertEquals(List.of(new LayerMemory(120, 240, 360)), profile.memoryOf(3));
    assertEquals(List.of(new LayerMemory(180, 360, 540)), profile.memoryOf(6));
    assertEquals(List.of(new LayerMemory(140, 280, 420)), profile.memory(1));
    assertTrue(profile.saysMemory() && profile.slower(3).saysMemory());
    assertFalse(of(List.of(2), 3).saysMemory());
  }

  @Test
  void memoryIsSaidOfEveryBatchAndLayerOrNotAtAll() {
    assertThrows(IllegalArgumentException.class, () -> needing(List.of(2, 4), 100));
    Profile said = needing(List.of(2), 100);
    List<List<LayerTimes>> times = List.of(said.times(0));
    List<LayerSizes> sizes = List.of(said.sizes(0));
    assertThrows(
        IllegalArgumentException.class,
        () ->
            new Profile(
                said.provenance(), Precision.FP32, sizes, List.of(2), times, List.of(List.of())));
    assertFalse(said.equals(needing(List.of(2), 101)));
  }

  @Test
  void aLargerSliceThanTheLastTakesNoLessThanIt() {
    assertEquals(4, forward(of(List.of(1, 2), 5, 4), 8), 1e-12); // the line says -2
  }

  @RepeatedTest(value = 100, name = "seed {currentRepetition}")
  void aMeasuredSliceTakesWhatWasMeasured(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    double[] measured = random.doubles(4, 0, 10).toArray(); // noise included
    List<Integer> batches = List.of(1, 2, 4, 8);
    Profile profile = of(batches, measured);
    for (int i = 0; i < measured.length; i++) {
      assertEquals(measured[i], forward(profile, batches.get(i)), 1e-12);
      assertEquals(2 * measured[i], profile.seconds(Quantity.BACKWARD, batches.get(i))[0], 1e-12);
    }
  }

  @Test
  void anUnsplitBackwardPassIsHalfWeightGradient() {
    Profile profile = of(List.of(1), 3);
    assertFalse(profile.splitsBackward());
    assertArrayEquals(new double[] {3}, profile.seconds(Quantity.WEIGHT_GRADIENT, 1));
    Profile split = of(List.of(1), List.of(List.of(new LayerTimes(1, 2, 0.5, 0))));
    assertTrue(split.splitsBackward());
    assertArrayEquals(new double[] {0.5}, split.seconds(Quantity.WEIGHT_GRADIENT, 1));
    assertArrayEquals(new double[] {1.5}, split.seconds(Quantity.INPUT_GRADIENT, 1));
  }

  @Test
  void inTwoPartsABackwardPassMayTakeLonger() {
    LayerTimes times = new LayerTimes(1, 2, 1.5, 2.5, 0);
    Profile split = of(List.of(1), List.of(List.of(times))).slower(2);
    assertArrayEquals(new double[] {4}, split.seconds(Quantity.BACKWARD, 1));
    assertArrayEquals(new double[] {3}, split.seconds(Quantity.INPUT_GRADIENT, 1));
    assertArrayEquals(new double[] {5}, split.seconds(Quantity.WEIGHT_GRADIENT, 1));
    assertThrows(IllegalArgumentException.class, () -> new LayerTimes(1, 2, -1, 1, 0));
    assertThrows(IllegalArgumentException.class, () -> new LayerTimes(1, 2, 1, Double.NaN, 0));
  }

  @Test
  void theUpdateDoesNotDependOnTheBatch() {
    Profile profile = of(List.of(1, 2), 3, 4);
    assertArrayEquals(new double[] {7}, profile.seconds(Quantity.UPDATE, 1));
    assertArrayEquals(new double[] {7}, profile.seconds(Quantity.UPDATE, 100));
  }

  @Test
  void tablesThatDoNotMatchAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> of(List.of()));
    assertThrows(IllegalArgumentException.class, () -> of(List.of(1, 2), 3));
    assertThrows(IllegalArgumentException.class, () -> of(List.of(2, 1), 3, 4));
    assertThrows(IllegalArgumentException.class, () -> of(List.of(0), 3));
    assertThrows(IllegalArgumentException.class, () -> of(List.of(1), List.of(List.of())));
    assertThrows(IllegalArgumentException.class, () -> forward(of(List.of(1), 3), 0));
    assertThrows(IllegalArgumentException.class, () -> new LayerTimes(1, 2, 3, 0));
    assertThrows(IllegalArgumentException.class, () -> new LayerTimes(-1, 2, 1, 0));
  }

  @Test
  void profilesOfEqualNumbersAreEqual() {
    assertEquals(of(List.of(1, 2), 3, 4), of(List.of(1, 2), 3, 4));
    assertEquals(of(List.of(1, 2), 3, 4).hashCode(), of(List.of(1, 2), 3, 4).hashCode());
    assertFalse(of(List.of(1, 2), 3, 4).equals(of(List.of(1, 2), 3, 5)));
    assertEquals("measured: test, k, 2025-01-01", of(List.of(1), 3).provenance().toString());
  }
}
