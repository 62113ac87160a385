package dev.pipewright.formats.paradl;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SlidingWindowTest {
  /** Tries strides and paddings, smallest first, and moves the kernel step by step. */
  private static Optional<SlidingWindow> searched(int in, int kernel, int out) {
    if (kernel > in && 2 * out < in) {
      return Optional.empty();
    }
    for (int stride = 1; stride <= in + kernel; stride++) {
      for (int padding = 0; padding <= 2 * (kernel / 2); padding++) {
        int places = 0;
        for (int first = 0; first + kernel <= in + padding; first += stride) {
          places++;
        }
        if (places == out) {
          return Optional.of(new SlidingWindow(kernel, stride, (padding + 1) / 2));
        }
      }
    }
    return Optional.empty();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
  void findsWhatTryingAllFinds(int kernel) {
    for (int in = 1; in <= 30; in++) {
      for (int out = 1; out <= 34; out++) {
        String name = in + " to " + out + " by " + kernel;
        assertEquals(searched(in, kernel, out), SlidingWindow.between(in, kernel, out), () -> name);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "226, 11, 54, 4, 0", "226, 7, 113, 2, 3", "226, 3, 226, 1, 1", "57, 2, 29, 2, 1",
    "126, 3, 62, 2, 0", "56, 1, 28, 2, 0", "8, 2, 8, 1, 1", "1, 3, 1, 1, 1",
  })
  void ofPublishedNetworks(int in, int kernel, int out, int stride, int padding) {
    assertEquals(
        Optional.of(new SlidingWindow(kernel, stride, padding)),
        SlidingWindow.between(in, kernel, out));
  }
}
