package dev.pipewright.runtime.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.BadInputException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ReadAheadTest {
  @Test
  void stepsComeInOrderAndOneIsReadAhead() throws InterruptedException {
    AtomicInteger read = new AtomicInteger();
    CountDownLatch second = new CountDownLatch(2);
    try (ReadAhead<Long> reader =
        new ReadAhead<>(
            7,
            step -> {
              read.incrementAndGet();
              second.countDown();
              return step;
            })) {
      assertEquals(7, reader.next());
      assertTrue(second.await(10, TimeUnit.SECONDS), "the next step is read without being asked");
      Thread.sleep(50);
      assertEquals(2, read.get(), "but no more than that");
      for (long step = 8; step < 100; step++) {
        assertEquals(step, reader.next());
      }
    }
  }

  @Test
  void whatReadingThrowsReachesWhoeverWantsTheStep() {
    try (ReadAhead<Long> reader =
        new ReadAhead<>(
            0,
            step -> {
              if (step == 2) {
                throw new BadInputException("a file is cut off");
              }
              return step;
            })) {
      assertEquals(0, reader.next());
      assertEquals(1, reader.next());
      assertEquals(
          "a file is cut off", assertThrows(BadInputException.class, reader::next).getMessage());
    }
  }

  @Test
  void aClosedReaderLeavesNoThread() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    ReadAhead<Long> reader =
        new ReadAhead<>(
            0,
            step -> {
              begun.countDown();
              try {
                Thread.sleep(60_000);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
              return step;
            });
    assertTrue(begun.await(10, TimeUnit.SECONDS));
    reader.close();
    for (int i = 0; i < 100 && readers() > 0; i++) {
      Thread.sleep(20);
    }
    assertEquals(0, readers());
  }

  private static long readers() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("data reader"))
        .count();
  }
}
