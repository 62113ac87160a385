package dev.pipewright.schedule;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;

class ProgramTest {
  /** Referee: a list. */
  @RepeatedTest(value = 50, name = "seed {currentRepetition}")
  void holdsWhatWasAddedWhateverItsRoom(RepetitionInfo seed) {
    var random = new SplittableRandom(seed.getCurrentRepetition());
    int count = random.nextInt(60);
    Program program = random.nextBoolean() ? new Program() : new Program(random.nextInt(70));
    List<Long> list = new ArrayList<>();
    for (long op = 0; op < count; op++) {
      int at = random.nextInt(list.size() + 1);
      if (random.nextBoolean()) {
        program.insert(at, op);
        list.add(at, op);
      } else {
        program.add(op);
        list.add(op);
      }
    }
    assertArrayEquals(list.stream().mapToLong(Long::longValue).toArray(), program.packed());
  }
}
