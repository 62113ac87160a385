package dev.pipewright.app.cli;

import dev.pipewright.formats.BadInputException;
import org.jspecify.annotations.Nullable;

/** Flags that are numbers from some least one on. */
final class AtLeast {
  private AtLeast() {}

  /** The value; throws {@link BadInputException} where it is too small. */
  static int one(String flag, int value) {
    return (int) of(flag, value, 1);
  }

  /** The same, or what is usual where the flag was not given. */
  static int one(String flag, @Nullable Integer value, int usual) {
    return value == null ? usual : one(flag, value);
  }

  static long of(String flag, long value, long least) {
    if (value < least) {
      throw new BadInputException(
          "%s: %d is too few; give a whole number >= %d".formatted(flag, value, least));
    }
    return value;
  }
}
