package dev.pipewright.zoo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WindowTest {
  /** Lays the window down place by place, from the first padding to where it no longer fits. */
  static int placesOneByOne(int extent, int kernel, int stride, int padding, int dilation) {
    int places = 0;
    for (int start = -padding; ; start += stride) {
      int last = start + dilation * (kernel - 1);
      if (last > extent + padding - 1) {
        return places;
      }
      places++;
    }
  }

  @RepeatedTest(300)
  void extentsAreThePlacesThatTheWindowTakes(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int kernel = random.nextInt(1, 8);
    int stride = random.nextInt(1, 5);
    int padding = random.nextInt(0, 4);
    int dilation = random.nextInt(1, 4);
    int extent = dilation * (kernel - 1) + 1 + random.nextInt(0, 30);
    Window window = Window.of(kernel).every(stride).padded(padding).dilated(dilation);
    assertEquals(
        placesOneByOne(extent, kernel, stride, padding, dilation), window.places(0, extent));
  }

  @Test
  void axesAreIndependent() {
    FeatureMap row = new FeatureMap(5, List.of(17, 40, 9));
    Window window =
        new Window(List.of(1, 7, 3), List.of(1, 2, 3), List.of(0, 3, 0), List.of(1, 1, 2));
    assertEquals(new FeatureMap(11, List.of(17, 20, 2)), row.through(window, 11));
    assertEquals(21, window.volume());
  }

  @Test
  void oddKernelsPaddedByHalfKeepTheExtents() {
    FeatureMap map = new FeatureMap(2, List.of(17, 30));
    assertEquals(map, map.through(Window.of(1, 7).padded(), 2));
    assertEquals(map, map.through(Window.of(5, 3).padded(), 2));
  }

  @ParameterizedTest
  @CsvSource({"4, 0, 1, 3", "3, 0, 2, 4", "6, 1, 1, 3"})
  void aKernelThatDoesNotFitIsNamed(int kernel, int padding, int dilation, int input) {
    Window window = Window.square(kernel).padded(padding).dilated(dilation);
    FeatureMap map = FeatureMap.square(1, input);
    var thrown = assertThrows(IllegalArgumentException.class, () -> map.through(window, 1));
    assertEquals(
        "the kernel is larger than its padded input: axis=0, kernel=%d, dilation=%d, input=%d, padding=%d"
            .formatted(kernel, dilation, input, padding),
        thrown.getMessage());
  }

  @Test
  void aWindowOfOtherAxesThanTheMapIsNamed() {
    FeatureMap map = FeatureMap.square(3, 8);
    var thrown = assertThrows(IllegalArgumentException.class, () -> map.through(Window.cube(3), 1));
    assertEquals(
        "a window has an axis for each of the map: map=3×8×8, kernel=[3, 3, 3]",
        thrown.getMessage());
  }
}
