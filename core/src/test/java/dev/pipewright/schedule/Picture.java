package dev.pipewright.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.schedule.check.Validator;
import java.util.List;

/** What tests of schedules with several stages on a rank share. */
public final class Picture {
  private Picture() {}

  /** One line per rank, each op as PyTorch writes it: stage, letter, micro-batch. */
  public static String of(Schedule schedule) {
    return of(schedule, schedule.stages());
  }

  /** The same with stages counted within their chain: those of the network. */
  public static String ofChains(Schedule schedule) {
    return of(schedule, schedule.placement().depth());
  }

  private static String of(Schedule schedule, int stages) {
    StringBuilder text = new StringBuilder();
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      text.append(rank).append(" |");
      for (Op op : schedule.program(rank)) {
        text.append(' ').append(op.stage() % stages).append(op);
      }
      text.append('\n');
    }
    return text.toString();
  }

  public static void assertRuns(Schedule schedule) {
    assertEquals(
        List.of(),
        Validator.check(schedule),
        () ->
            "%s, %d ranks, %d micro-batches"
                .formatted(schedule.name(), schedule.ranks(), schedule.microBatches()));
  }
}
