package dev.pipewright.runtime.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which worker is to blame; seconds are those of a clock of the test's own. */
class WatchTest {
  private static final Optional<Place> FORWARD = place(0, 'F');

  private final Watch watch = new Watch(2, Duration.ofSeconds(60));

  private static Optional<Place> place(long step, char op) {
    return Optional.of(new Place(step, 0, op, 1, 2));
  }

  private static long at(int second) {
    return 1_000_000_000L * second;
  }

  @BeforeEach
  void bothWork() {
    watch.works(0, 0);
    watch.works(1, 0);
  }

  private void heard(int worker, int second, long places, int waitingFor, long processor) {
    heard(worker, second, places, waitingFor, processor, FORWARD);
  }

  private void heard(
      int worker, int second, long places, int waitingFor, long processor, Optional<Place> place) {
    watch.heard(worker, new Pulse(places, waitingFor, processor, place), at(second));
  }

  private String stall(int second) {
    return watch
        .stall(at(second))
        .map(stall -> "worker " + stall.worker() + " " + stall.what())
        .orElse("none");
  }

  @Test
  void oneThatDoesNotAnswerIsToBlameAndNotThoseThatWaitForIt() {
    for (int second = 0; second < 70; second++) {
      heard(0, second, 5, 1, 0);
    }
    assertEquals("none", stall(60));
    assertEquals(
        "worker 1 has not answered for 61 s: it has been stopped, or is cut off", stall(61));
  }

  @Test
  void oneThatNeitherComputesNorWaitsHangs() {
    for (int second = 0; second < 70; second++) {
      heard(0, second, 5, 1, 0);
      heard(1, second, 8, Pulse.NONE, second); // a millisecond each second to answer
    }
    assertEquals(
        "worker 1 has made no progress for 69 s: it neither computes nor waits for another worker",
        stall(69));
  }

  /** On a busy machine an answer takes tens of milliseconds of processor time. */
  @Test
  void answersAreNoComputationHoweverShortThePatience() {
    Watch impatient = new Watch(1, Duration.ofSeconds(4));
    impatient.works(0, 0);
    for (int second = 0; second <= 5; second++) {
      impatient.heard(0, new Pulse(8, Pulse.NONE, 30L * second, FORWARD), at(second));
    }
    assertEquals(
        "has made no progress for 5 s: it neither computes nor waits for another worker",
        impatient.stall(at(5)).orElseThrow().what());
  }

  /** It reads libraries and data from disks that others use, too. */
  @Test
  void oneThatStartsHasAMinuteMore() {
    for (int second = 0; second < 130; second++) {
      heard(0, second, 5, 1, 0);
      heard(1, second, 0, Pulse.NONE, second, Optional.empty());
    }
    assertEquals("none", stall(120));
    assertEquals(
        "worker 1 has made no progress for 121 s: it neither computes nor waits for another worker",
        stall(121));
  }

  /** The first step compiles, and a checkpoint or the held-out samples may take long. */
  @Test
  void oneThatComputesMayTakeLongInItsFirstStepAndForACheckpoint() {
    for (int second = 0; second < 1000; second++) {
      heard(0, second, 5, 1, 0);
      heard(1, second, 8, Pulse.NONE, 900L * second);
    }
    assertEquals("none", stall(1000));
    for (int second = 1000; second < 2000; second++) {
      heard(0, second, 5, 1, 0);
      heard(1, second, 9, Pulse.NONE, 900L * second, place(7, Place.CHECKPOINT));
    }
    assertEquals("none", stall(2000));
  }

  @Test
  void oneThatComputesFarLongerThanEverRunsInCircles() {
    for (int second = 0; second < 200; second++) {
      long op = Math.min(50, second / 2); // two seconds each
      heard(0, second, 5, 1, 0);
      heard(1, second, op, Pulse.NONE, 900L * second, place(op, 'B'));
    }
    assertEquals("none", stall(100 + 60 + 2 * 20));
    assertEquals(
        "worker 1 has made no progress for 101 s: it computes, but none of its operations took so"
            + " long before",
        stall(201));
  }

  @Test
  void oneThatHasWaitedHasAsMuchTimeAsAnyOther() {
    for (int second = 0; second < 120; second++) {
      heard(0, second, second, Pulse.NONE, 0);
      heard(1, second, 8, second < 100 ? 0 : Pulse.NONE, 0);
    }
    assertEquals("none", stall(120));
  }

  @Test
  void whereAllWaitTheFirstIsNamedWithTheOneThatItWaitsFor() {
    for (int second = 0; second < 70; second++) {
      heard(0, second, second < 5 ? second : 5, 1, 0);
      heard(1, second, 8, 0, 0);
    }
    assertEquals(
        "worker 1 has waited for worker 0 for 69 s, as all workers wait for others", stall(69));
  }

  @Test
  void thoseThatWaitForAJobOrAnAnswerAreNotToBlame() {
    for (int second = 0; second < 200; second++) {
      heard(0, second, 5, Pulse.COORDINATOR, 0);
      heard(1, second, second, Pulse.NONE, 0);
    }
    assertEquals("none", stall(200));
  }
}
