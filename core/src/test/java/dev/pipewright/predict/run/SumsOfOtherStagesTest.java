package dev.pipewright.predict.run;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import dev.pipewright.cluster.Software;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OncePerStepTimes;
import dev.pipewright.schedule.search.OpTimes;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Counted by hand: a rank with three stages and two micro-batches. Behind the last stage's passes
 * are two of 2 s, then two of 3 s.
 */
class SumsOfOtherStagesTest {
  private static final int STAGES = 3;
  private static final double OVERLAP = 0.25;
  private static final double LAST = 0.5; // seconds of the first stage's sum, which begins last

  private static Schedule schedule() {
    List<Long> program = new ArrayList<>();
    for (int stage = 0; stage < STAGES; stage++) {
      program.add(Schedule.pack(Pass.FORWARD, stage, 0));
      program.add(Schedule.pack(Pass.FORWARD, stage, 1));
    }
    for (int stage = STAGES - 1; stage >= 0; stage--) {
      program.add(Schedule.pack(Pass.BACKWARD, stage, 0));
      program.add(Schedule.pack(Pass.BACKWARD, stage, 1));
    }
    long[] ops = program.stream().mapToLong(Long::longValue).toArray();
    return new Schedule("three", Placement.looped(1, STAGES), 2, new long[][] {ops});
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0, 0",
    "3, 0, 3", // 2 s beside one pass, 1 s beside the next
    "3, 5, 8", // and all of the other beside the 6 s behind
    "6, 1, 7", // 2 s are left when the other begins, which waits
    "20, 20, 10", // all 10 s of passes are beside something
    "0, 20, 6",
  })
  void takeFromThePassesThatTheyRunBeside(double first, double second, double beside) {
    double[] none = new double[STAGES];
    OpTimes times =
        OpTimes.of(new double[] {1, 1, 1}, new double[] {2, 1, 1}, new double[] {1, 1, 1}, 0)
            .withStep(new OncePerStepTimes(none, new double[] {LAST, second, first}, none, none));
    OpTimes counted =
        SumsOfOtherStages.counted(schedule(), times, Software.IDEAL.withOverlap(OVERLAP));
    double[] expected = {LAST + (1 - OVERLAP) * beside, second, first};
    assertArrayEquals(expected, counted.step().reduce(), 1e-12);
  }
}
