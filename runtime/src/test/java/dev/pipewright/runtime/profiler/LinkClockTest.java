package dev.pipewright.runtime.profiler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.ProfilingOutcome.LinkFigures;
import dev.pipewright.formats.file.BadInputException;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Broadcasts of two workers that both take as long. */
class LinkClockTest {
  private static final int[] SIZES = {4, 16, 64, 256};
  private static final long[] QUIET = {1_000, 1_012, 1_060, 1_252}; // ns: 996 + 1 per byte

  private final LinkClock clock = new LinkClock(2);

  private void measured(long... nanoseconds) {
    for (int i = 0; i < SIZES.length; i++) {
      String line =
          "{\"operation\": \"BROADCAST\", \"bytes\": %d, \"begun\": [5, 7], \"ended\": [%d, %d]}"
              .formatted(SIZES[i], 5 + nanoseconds[i], 7 + nanoseconds[i]);
      clock.add(0, line);
      clock.add(1, line);
    }
  }

  @Test
  void aLineThroughTheTimes() {
    measured(QUIET);
    LinkFigures figures = clock.figures().get(0);
    assertEquals(996e-9, figures.fit().line().latency().value(), 1e-12);
    assertEquals(1e9, figures.fit().line().bandwidth().value(), 1);
  }

  /** The median of all repeats is a quiet one as soon as most of them are. */
  @Test
  void furtherMeasurementsOutweighADisturbedOne() {
    long[] disturbed = QUIET.clone();
    Arrays.fill(disturbed, 900);
    measured(disturbed);
    String why = assertThrows(BadInputException.class, clock::figures).toString();
    assertTrue(why.contains("broadcast between 2 workers: times do not grow with the size"), why);
    measured(QUIET);
    measured(QUIET);
    LinkFigures figures = clock.figures().get(0);
    assertEquals(996e-9, figures.fit().line().latency().value(), 1e-12);
    assertEquals(1e9, figures.fit().line().bandwidth().value(), 1);
  }
}
