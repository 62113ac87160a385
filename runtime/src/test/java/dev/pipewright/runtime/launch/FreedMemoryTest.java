package dev.pipewright.runtime.launch;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.execution.TrainingRequest.Computing;
import dev.pipewright.execution.TrainingRequest.Device;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@EnabledOnOs(OS.LINUX) // with glibc, as libtorch wants it
class FreedMemoryTest {
  private static final long HALF = FreedMemoryTask.ELEMENTS * 4L / 2;

  @TempDir Path folder;

  private long bytesLeft(boolean frugal) throws InterruptedException {
    Launch launch =
        Launch.of(1, FreedMemoryTask.class.getName(), "", Optional.of(folder.resolve("logs")))
            .with(new Launch.Resources(64, new Computing(Device.CPU, 1, frugal), true));
    List<String> communication = new ArrayList<>();
    try (Coordinator coordinator = new Coordinator(launch)) {
      coordinator.run((worker, text) -> communication.add(text));
    }
    return Long.parseLong(communication.get(0));
  }

  @Test
  void workersKeepWhatATensorGivesBack() throws Exception {
    long bytes = bytesLeft(false);
    assertTrue(bytes > HALF, bytes + " bytes");
  }

  @Test
  void theyReturnItWhereMemoryIsMeasured() throws Exception {
    long bytes = bytesLeft(true);
    assertTrue(bytes < HALF, bytes + " bytes");
  }
}
