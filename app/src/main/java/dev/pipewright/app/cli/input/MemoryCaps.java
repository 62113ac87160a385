package dev.pipewright.app.cli.input;

import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.formats.file.Amounts;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.schedule.MemoryCap;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Reads what {@code --memory-cap} says: one number for all ranks, or one for each. */
public final class MemoryCaps {
  private MemoryCaps() {}

  /** Throws {@link BadInputException} where a number is none, or holds nothing. */
  public static MemoryCap of(String text) {
    List<Double> values = new ArrayList<>();
    for (String part : text.split(":", -1)) {
      values.add(number(part.strip()));
    }
    return new MemoryCap(values);
  }

  private static double number(String text) {
    double value = Amounts.decimal(text);
    if (!Double.isFinite(value)) {
      throw new BadInputException(
          "--memory-cap: '%s' is no number; give one, or one per rank like 8:7:6".formatted(text));
    }
    if (value < 1) {
      throw new BadInputException(
          "--memory-cap: '%s' holds not even one micro-batch; give numbers >= 1".formatted(text));
    }
    return value;
  }

  /** Of each of so many ranks; throws where caps are for another number of them. */
  public static double[] each(MemoryCap cap, int ranks) {
    if (!cap.isFor(ranks)) {
      throw new BadInputException(
          "--memory-cap: '%s' holds %d numbers for %d ranks; give one, or one per rank like 8:7:6"
              .formatted(words(cap), cap.values().size(), ranks));
    }
    return cap.each(ranks);
  }

  private static String words(MemoryCap cap) {
    return cap.values().stream().map(Numbers::plain).collect(Collectors.joining(":"));
  }
}
