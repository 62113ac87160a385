package dev.pipewright.formats.schedule;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.schedule.ScheduleAction.Kind;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The letters that PyTorch's schedule files had before {@code I} came: {@code B} was the gradient
 * of the input, {@code W} that of the weights as today, and {@code BW} the whole backward pass,
 * which is {@code B} today.
 *
 * <p>The content decides: a file has a {@code BW}; or it has no {@code I}, and each {@code W} is of
 * a stage and micro-batch that has a {@code B} too, which today's letters would count twice.
 */
final class OlderLetters {
  private OlderLetters() {}

  /**
   * Whether the actions, by rank, are written so; throws {@link BadInputException} where letters of
   * both times occur.
   */
  static boolean areIn(Path file, List<List<ScheduleAction>> ranks) {
    boolean whole = false;
    Set<Long> backward = new HashSet<>();
    Set<Long> weight = new HashSet<>();
    ScheduleAction input = null;
    for (List<ScheduleAction> rank : ranks) {
      for (ScheduleAction action : rank) {
        switch (action.kind()) {
          case OLDER_BACKWARD -> whole = true;
          case BACKWARD -> backward.add(place(action));
          case BACKWARD_WEIGHT -> weight.add(place(action));
          case BACKWARD_INPUT -> input = input == null ? action : input;
          default -> {}
        }
      }
    }
    if (whole && input != null) {
      throw BadInputException.at(
          file,
          input.line(),
          input.column(),
          "'%s' does not go with BW, which PyTorch wrote before it had I; write B for BW, or B for I"
              .formatted(input));
    }
    return whole || (input == null && !weight.isEmpty() && backward.containsAll(weight));
  }

  private static long place(ScheduleAction action) {
    return (long) action.stage() << 32 | action.microBatch();
  }

  /** An action in today's letters. */
  static ScheduleAction today(ScheduleAction action) {
    Kind kind =
        switch (action.kind()) {
          case BACKWARD -> Kind.BACKWARD_INPUT;
          case OLDER_BACKWARD -> Kind.BACKWARD;
          default -> action.kind();
        };
    return new ScheduleAction(
        kind, action.stage(), action.microBatch(), action.line(), action.column(), action.joined());
  }
}
