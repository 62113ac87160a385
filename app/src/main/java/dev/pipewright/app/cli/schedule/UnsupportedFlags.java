package dev.pipewright.app.cli.schedule;

import dev.pipewright.app.cli.input.StepSeconds;
import dev.pipewright.formats.file.BadInputException;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** Rejects options that none of the shown schedules supports. */
public final class UnsupportedFlags {
  private UnsupportedFlags() {}

  /**
   * A flag for schedules of one name.
   *
   * @param value as given; null where it is not
   */
  static void checkOnly(String only, String flag, @Nullable String value, List<String> names) {
    if (value != null && !names.contains(only)) {
      throw new BadInputException(
          "%s: only %s supports it, not %s; leave it out, or take %s"
              .formatted(flag, only, String.join(", ", names), only));
    }
  }

  /** Where all run a fixed number of chunks, there must be one that has the number. */
  static void checkChunks(OptionalInt wanted, List<String> names) {
    List<ScheduleNames.Named> all = names.stream().map(ScheduleNames::find).toList();
    if (wanted.isPresent()
        && all.size() > 1 // one alone says its own number
        && all.stream().noneMatch(each -> !each.fixed() || each.chunks() == wanted.getAsInt())) {
      throw new BadInputException(
          "--chunks: none of %s can run %d on each rank; leave --chunks out"
              .formatted(String.join(", ", names), wanted.getAsInt()));
    }
  }

  /** Times of updates and exchanges, where there are such ops. */
  static void checkStepTimes(String text, List<MadeSchedule> all) {
    StepSeconds step = StepSeconds.of(text);
    if (step.isAny() && all.stream().noneMatch(made -> step.isOf(made.run().schedule()))) {
      List<String> names = all.stream().map(MadeSchedule::name).toList();
      throw new BadInputException(
          "--step-times: '%s' is the time of nothing in %s; leave it out, or take one with such updates or exchanges, like dp"
              .formatted(text, String.join(", ", names)));
    }
  }
}
