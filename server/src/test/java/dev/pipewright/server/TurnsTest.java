package dev.pipewright.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.server.study.Recent;
import dev.pipewright.server.study.Turns;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Work of which one piece is done at a time, and answers that are kept. */
class TurnsTest {
  @Test
  void onePieceIsDoneAtATime() throws Exception {
    Turns turns = new Turns();
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    List<Thread> users = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      users.add(
          Thread.ofVirtual()
              .start(() -> {
                try {
                  turns.take(() -> {
                    most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                    Thread.sleep(2);
                    return inside.decrementAndGet();
                  });
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
              }));
    }
    for (Thread user : users) {
      user.join();
    }
    assertEquals(1, most.get());
    assertEquals(0, inside.get());
  }

  @Test
  void aMistakeIsToldAndTheNextHasItsTurn() throws Exception {
    Turns turns = new Turns();
    BadInputException mistake =
        assertThrows(
            BadInputException.class,
            () ->
                turns.take(() -> {
                  throw new BadInputException("to: is missing; give one");
                }));
    assertEquals("to: is missing; give one", mistake.getMessage());
    assertEquals(2, turns.take(() -> 1 + 1));
  }

  @Test
  void whatWasNotUsedLongestIsForgotten() {
    Recent<String, Integer> recent = new Recent<>(2);
    recent.keep("a", 1);
    recent.keep("b", 2);
    recent.find("a");
    recent.keep("c", 3);
    assertEquals(Optional.of(1), recent.find("a"));
    assertEquals(Optional.empty(), recent.find("b"));
    assertEquals(Optional.of(3), recent.find("c"));
  }
}
