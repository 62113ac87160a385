package dev.pipewright.runtime.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class ImageTest {
  @Test
  void aPictureOfTheRightSizeStaysAsItIs() {
    float[] pixels = {1, 2, 3, 4, 5, 6, 7, 8};
    assertArrayEquals(pixels, new Image(pixels, 2, 2, 2).covering(2, 2), 1e-6f);
  }

  @Test
  void whatDoesNotFitIsCutOffOnBothSides() {
    float[] pixels = {9, 1, 2, 9, 9, 3, 4, 9};
    assertArrayEquals(new float[] {1, 2, 3, 4}, new Image(pixels, 1, 2, 4).covering(2, 2), 1e-6f);
  }

  /** A ramp is a ramp at any size: weights around a place are balanced, away from the border. */
  @RepeatedTest(30)
  void rampsStayRamps(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    int size = random.nextInt(20, 60);
    int asked = random.nextInt(5, 90);
    float[] pixels = new float[size * size];
    for (int i = 0; i < pixels.length; i++) {
      int row = i / size;
      pixels[i] = i % size + 0.5f + 3 * (row + 0.5f);
    }
    float[] result = new Image(pixels, 1, size, size).covering(asked, asked);
    double scale = (double) size / asked;
    double border = Math.max(1, scale);
    for (int i = 0; i < result.length; i++) {
      double x = (i % asked + 0.5) * scale;
      int row = i / asked;
      double y = (row + 0.5) * scale;
      boolean inside = Math.min(x, y) > border + 1 && Math.max(x, y) < size - border - 1;
      if (inside) {
        assertEquals(x + 3 * y, result[i], 0.75); // samples of a triangle balance nearly
      }
    }
  }
}
