package dev.pipewright.runtime.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.plan.SampleRange;
import dev.pipewright.runtime.data.HostValues;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;

class ReadAheadTest {
  private static final SampleRange FIRST = new SampleRange(0, 2);
  private static final SampleRange SECOND = new SampleRange(2, 1);

  /** Says which samples were read; those of a step are cut off. */
  private static class Counting implements Feed {
    private final BlockingQueue<String> read = new LinkedBlockingQueue<>();
    private final long end;

    private Counting(long end) {
      this.end = end;
    }

    @Override
    public List<HostValues> inputs(long step, SampleRange samples) {
      return List.of(values("inputs", step, samples));
    }

    @Override
    public HostValues target(long step, SampleRange samples) {
      return values("target", step, samples);
    }

    private HostValues values(String what, long step, SampleRange samples) {
      read.add("%s of %d from %d".formatted(what, step, samples.first()));
      if (step >= end) {
        throw new BadInputException("a file is cut off");
      }
      return new HostValues.Whole(new long[] {step, samples.first(), samples.count()}, 3);
    }
  }

  private static long[] numbers(HostValues values) {
    return values instanceof HostValues.Whole whole ? whole.numbers() : new long[0];
  }

  @Test
  void everyQuestionIsAnsweredAsTheFeedAnswersIt() {
    try (ReadAhead ahead = new ReadAhead(new Counting(Long.MAX_VALUE))) {
      for (long step = 3; step < 50; step++) {
        assertArrayEquals(new long[] {step, 0, 2}, numbers(ahead.inputs(step, FIRST).get(0)));
        assertArrayEquals(new long[] {step, 2, 1}, numbers(ahead.inputs(step, SECOND).get(0)));
        assertArrayEquals(new long[] {step, 2, 1}, numbers(ahead.target(step, SECOND)));
      }
    }
  }

  @Test
  void theNextStepIsReadUnaskedAndNoneBehindIt() throws InterruptedException {
    Counting feed = new Counting(Long.MAX_VALUE);
    try (ReadAhead ahead = new ReadAhead(feed)) {
      ahead.inputs(7, FIRST);
      assertEquals("inputs of 7 from 0", feed.read.take());
      assertEquals("inputs of 8 from 0", feed.read.take());
      ahead.target(7, FIRST); // read by this thread and then by the other, behind all before
      assertEquals("target of 7 from 0", feed.read.take());
      assertEquals("target of 8 from 0", feed.read.take());
      assertTrue(feed.read.isEmpty());
      ahead.inputs(8, FIRST);
      assertEquals("inputs of 9 from 0", feed.read.take(), "8 is not read twice");
    }
  }

  @Test
  void whatReadingThrowsReachesWhoeverWantsTheStep() {
    try (ReadAhead ahead = new ReadAhead(new Counting(2))) {
      ahead.inputs(0, FIRST);
      ahead.inputs(1, FIRST);
      BadInputException thrown =
          assertThrows(BadInputException.class, () -> ahead.inputs(2, FIRST));
      assertEquals("a file is cut off", thrown.getMessage());
    }
  }

  @Test
  void aClosedReaderLeavesNoThread() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    Counting feed =
        new Counting(Long.MAX_VALUE) {
          @Override
          public List<HostValues> inputs(long step, SampleRange samples) {
            if (step > 0) {
              begun.countDown();
              sleep();
            }
            return super.inputs(step, samples);
          }
        };
    ReadAhead ahead = new ReadAhead(feed);
    ahead.inputs(0, FIRST);
    begun.await();
    ahead.close();
    while (readers() > 0) {
      Thread.sleep(20);
    }
  }

  private static void sleep() {
    try {
      Thread.sleep(60_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static long readers() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("data reader"))
        .count();
  }
}
