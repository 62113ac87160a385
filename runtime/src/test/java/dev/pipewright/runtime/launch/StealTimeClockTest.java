package dev.pipewright.runtime.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StealTimeClockTest {
  @TempDir private Path folder;

  private double share(String before, String after) throws IOException {
    Path file = folder.resolve("stat");
    Files.writeString(file, before);
    StealTimeClock clock = new StealTimeClock(file);
    Files.writeString(file, after);
    return clock.stolen().share();
  }

  @Test
  void whatWasStolenIsAPartOfWhatWasWanted() throws IOException {
    assertEquals(
        0.25,
        share(
            "cpu  100 10 20 1000 7 3 2 50 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n",
            "cpu  400 10 30 5000 9 3 2 153 0 0\ncpu0 9 9 9 9 9 9 9 9 0 0\n"),
        1e-3);
  }

  @Test
  void aMachineOfItsOwnLosesNothing() throws IOException {
    assertEquals(0, share("cpu  100 0 20 1000 0 0 0 0 0 0\n", "cpu  900 0 40 1000 0 0 0 0 0 0\n"));
  }

  @Test
  void whoDoesNotSayStealsNothing() throws IOException {
    assertEquals(0, share("cpu  100 0 20 1000\n", "cpu  900 0 40 1000\n"));
    assertEquals(0, share("intr 1\n", "intr 2\n"));
    assertEquals(0, new StealTimeClock(folder.resolve("none")).stolen().share());
  }
}
