package dev.pipewright.exchange;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.parallel.Parallelism;
import dev.pipewright.parallel.Parallelism.Kind;
import dev.pipewright.parallel.Windows;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;

/** The messages that price a halo against what each member sends each other. */
class HaloMessagesTest {
  @RepeatedTest(value = 200, name = "seed {currentRepetition}")
  void theLongestAreThoseOfTheMembersThatSendMost(RepetitionInfo seed) {
    SplittableRandom random = new SplittableRandom(seed.getCurrentRepetition());
    List<Integer> map = List.of(random.nextInt(8, 20), random.nextInt(8, 20));
    List<Integer> grid = List.of(random.nextInt(1, 5), random.nextInt(1, 5));
    int kernel = 1 + 2 * random.nextInt(2);
    int padding = random.nextInt(kernel / 2 + 1);
    Windows windows =
        new Windows(
            List.of(kernel, kernel), List.of(1, 1), List.of(padding, padding), List.of(1, 1));
    Parallelism split = new Parallelism(Kind.SPATIAL, grid);
    for (int axis = 0; axis < 2; axis++) {
      HaloRows rows = new HaloRows(windows, map, split, axis, random.nextInt(1, 9));
      for (GroupExchange.Handed way : List.of(rows, rows.back())) {
        long most = 0;
        long longest = 0;
        for (int from = 0; from < split.parts(); from++) {
          most = Math.max(most, way.elements(from, 0, split.parts()));
          for (int to = 0; to < split.parts(); to++) {
            longest = Math.max(longest, from == to ? 0 : way.elements(from, to));
          }
        }
        long[][] messages = way.messages(split.parts());
        assertEquals(
            most, Arrays.stream(messages).mapToLong(m -> Arrays.stream(m).sum()).max().orElse(0));
        assertEquals(
            longest, Arrays.stream(messages).flatMapToLong(Arrays::stream).max().orElse(0));
      }
    }
  }
}
