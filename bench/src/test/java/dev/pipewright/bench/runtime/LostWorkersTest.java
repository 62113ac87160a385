package dev.pipewright.bench.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One of the runs of the campaign for each kind of loss. */
class LostWorkersTest {
  @TempDir Path folder;

  @ParameterizedTest
  @EnumSource
  void aRunThatLosesAWorkerEndsInTimeAndIsGoneOnWith(LostWorkerTrial.Loss loss) {
    String strategy =
        LostWorkers.STRATEGIES.get(
            switch (loss) {
              case KILLED -> 0;
              case STOPPED -> 7;
              case CUT_OFF -> 14;
            });
    LostWorkerTrial.Result result = new LostWorkerTrial(folder).run(strategy, loss, 0.8, 1);
    assertEquals(Optional.empty(), result.finding());
    assertTrue(result.secondsToEnd() < LostWorkerTrial.DEADLINE, "" + result);
  }
}
