package dev.pipewright.schedule.catalog;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.catalog.UnsuitableException.Parameter;
import dev.pipewright.schedule.check.Validator;
import dev.pipewright.schedule.search.OpTimes;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ScheduleCatalogTest {
  /** Passes of the same length, but for the first stage. */
  private record Input(int stages, int microBatches, int chunks, double first)
      implements ScheduleInput {
    @Override
    public int[] replicasOfStages() {
      int[] none = new int[stages];
      Arrays.fill(none, 1);
      return none;
    }

    @Override
    public OpTimes opTimes(Placement placement) {
      double[] seconds = new double[placement.stages()];
      Arrays.fill(seconds, 1);
      seconds[0] = first;
      return OpTimes.of(seconds, seconds.clone(), seconds.clone(), 0.25);
    }

    @Override
    public double[] caps(int ranks) {
      double[] caps = new double[ranks];
      Arrays.fill(caps, Double.POSITIVE_INFINITY);
      return caps;
    }
  }

  static Stream<String> names() {
    return ScheduleCatalog.entries().stream().map(ScheduleEntry::name);
  }

  private static ScheduleEntry entry(String name) {
    return ScheduleCatalog.find(name).orElseThrow();
  }

  private static Schedule made(String name, double first) {
    return entry(name).make(new Input(4, 8, entry(name).chunks(), first));
  }

  @Test
  void namesAreUnique() {
    assertEquals(names().count(), names().distinct().count());
    assertEquals(Optional.empty(), ScheduleCatalog.find("2f2b"));
  }

  @ParameterizedTest
  @MethodSource("names")
  void everyEntryMakesASoundScheduleOnTheRanksThatItStates(String name) {
    Schedule schedule = made(name, 1);
    assertEquals(List.of(), Validator.check(schedule, entry(name).chunks()));
    if (entry(name).sameRanks()) {
      assertEquals(4, schedule.ranks());
    }
  }

  @ParameterizedTest
  @MethodSource("names")
  void onlyOrdersWithoutFlushesRepeat(String name) {
    int round = entry(name).round().applyAsInt(new Input(4, 8, entry(name).chunks(), 1));
    assertEquals(entry(name).updates() == UpdateSemantics.FLUSH, round == 0);
    assertTrue(round >= 0);
  }

  /** Those that follow a rule are the same whatever stages take. */
  @ParameterizedTest
  @MethodSource("names")
  void schedulesOfARuleDoNotDependOnDurations(String name) {
    if (!entry(name).needsDurations()) {
      Schedule slow = made(name, 3);
      Schedule fast = made(name, 1);
      for (int rank = 0; rank < fast.ranks(); rank++) {
        assertEquals(fast.program(rank), slow.program(rank));
      }
    }
  }

  /** Searches are asked for few numbers, since each takes a while. */
  @ParameterizedTest
  @MethodSource("names")
  void itExistsForTheNumbersThatItStates(String name) {
    CountRule rule = entry(name).published().counts();
    boolean slow = entry(name).needsDurations();
    int most = slow ? 2 : 24;
    for (int ranks = 1; ranks <= (slow ? 3 : 6); ranks++) {
      for (int microBatches = 1; microBatches <= most; microBatches++) {
        ScheduleInput input = new Input(ranks, microBatches, entry(name).chunks(), 1);
        String numbers = "%s of %d ranks, %d micro-batches".formatted(name, ranks, microBatches);
        if (rule.allows(ranks, microBatches)) {
          Schedule schedule = assertDoesNotThrow(() -> entry(name).make(input), numbers);
          assertEquals(List.of(), Validator.check(schedule, entry(name).chunks()), numbers);
        } else {
          assertThrows(IllegalArgumentException.class, () -> entry(name).make(input), numbers);
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("names")
  void everyEntryNamesItsPaper(String name) {
    assertTrue(entry(name).published().paper().length() > 10, name);
  }

  @Test
  void whatDoesNotSuitIsNamed() {
    UnsuitableException chunks =
        assertThrows(UnsuitableException.class, () -> entry("hanayo").make(new Input(4, 8, 3, 1)));
    assertEquals(Parameter.CHUNKS, chunks.parameter());
    UnsuitableException microBatches =
        assertThrows(
            UnsuitableException.class, () -> entry("pipedream-2bw").make(new Input(4, 6, 1, 1)));
    assertEquals(Parameter.MICRO_BATCHES, microBatches.parameter());
  }
}
