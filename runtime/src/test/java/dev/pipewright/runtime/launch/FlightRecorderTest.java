package dev.pipewright.runtime.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FlightRecorderTest {
  @TempDir Path folder;

  @Test
  void theLastPlaceIsInTheFileAtOnce() {
    Path file = folder.resolve("recorder");
    FlightRecorder recorder = FlightRecorder.create(file);
    assertEquals(Optional.empty(), FlightRecorder.last(file));
    for (int i = 0; i < 200; i++) { // round the ring, more than once
      recorder.at(1L << 40, i, 'B', 3, -i);
      assertEquals(Optional.of(new Place(1L << 40, i, 'B', 3, -i)), FlightRecorder.last(file));
    }
  }

  @Test
  void aWorkerThatNeverBeganIsNowhere() throws IOException {
    Path file = folder.resolve("none");
    assertEquals(Optional.empty(), FlightRecorder.last(file));
    Files.write(file, new byte[5]);
    assertEquals(Optional.empty(), FlightRecorder.last(file));
  }

  @Test
  void placesReadAsPeopleSayThem() {
    assertEquals(
        "stage 1, backward of micro-batch 3 in step 17", new Place(17, 40, 'B', 1, 3).toString());
    assertEquals("stage 0, update in step 2", new Place(2, 9, 'U', 0, 2).toString());
  }
}
