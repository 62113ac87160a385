package dev.pipewright.runtime.profiler;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.runtime.tensor.Torch;
import dev.pipewright.runtime.transport.LocalTransport;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class CoRunningLoadTest {
  private static final int WORKERS = 3;

  @BeforeAll
  static void start() {
    Torch.start(1);
  }

  @Test
  void theOthersComputeUntilTheFirstHasMeasuredAndThenMeetAgain() throws Exception {
    CountDownLatch rounds = new CountDownLatch(2 * WORKERS);
    List<Future<Boolean>> ends = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(WORKERS)) {
      for (LocalTransport transport : LocalTransport.of(WORKERS)) {
        ends.add(threads.submit(() -> twice(new CoRunningLoad(transport), rounds)));
      }
      long measuring = 0;
      for (Future<Boolean> end : ends) {
        measuring += end.get() ? 1 : 0;
      }
      assertEquals(1, measuring);
    }
  }

  private static boolean twice(CoRunningLoad coRunning, CountDownLatch rounds) throws Exception {
    for (int batch = 0; batch < 2; batch++) {
      coRunning.meet();
      if (coRunning.measures()) {
        rounds.await();
        coRunning.dismiss();
      } else {
        coRunning.keep(rounds::countDown);
      }
    }
    return coRunning.measures();
  }
}
