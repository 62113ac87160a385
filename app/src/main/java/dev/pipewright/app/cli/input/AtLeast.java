package dev.pipewright.app.cli.input;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.problem.SizeLimits;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** Flags that are numbers from some least one on. */
public final class AtLeast {
  private AtLeast() {}

  /** The value; throws {@link BadInputException} where it is too small. */
  public static int one(String flag, int value) {
    return (int) within(flag, value, 1, Integer.MAX_VALUE);
  }

  /** A number of what takes memory or time each: stages, replicas, threads. */
  public static int few(String flag, int value) {
    return (int) within(flag, value, 1, SizeLimits.COUNT);
  }

  public static int few(String flag, @Nullable Integer value, int usual) {
    return value == null ? usual : few(flag, value);
  }

  /** The same where the flag was given. */
  public static OptionalInt optional(String flag, @Nullable Integer value) {
    return value == null ? OptionalInt.empty() : OptionalInt.of(few(flag, value));
  }

  /** The same, or what is usual where the flag was not given. */
  public static int one(String flag, @Nullable Integer value, int usual) {
    return value == null ? usual : one(flag, value);
  }

  public static long within(String flag, long value, long least, long most) {
    if (value > most) {
      throw new BadInputException(
          "%s: %d is too many; give at most %d".formatted(flag, value, most));
    }
    if (value < least) {
      throw new BadInputException(
          "%s: %d is too few; give a whole number >= %d".formatted(flag, value, least));
    }
    return value;
  }
}
