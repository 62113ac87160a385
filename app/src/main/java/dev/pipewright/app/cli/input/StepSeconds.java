package dev.pipewright.app.cli.input;

import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.formats.file.Amounts;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.search.OncePerStepTimes;
import dev.pipewright.units.Range;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * What {@code --step-times} says, of a rank's share of the network.
 *
 * @param update seconds of the optimizer's step
 * @param reduce seconds until gradients are added up
 * @param gather seconds until parameters are gathered
 * @param gradientPass seconds to take either over from another rank
 */
public record StepSeconds(double update, double reduce, double gather, double gradientPass) {
  /** Reads {@code U,A,G,H}. */
  public static StepSeconds of(String text) {
    String[] parts = text.split(",", -1);
    if (parts.length != 4) {
      throw new BadInputException(
          "--step-times: '%s' holds %d values; write U,A,G,H, like 0.5,1,1,1"
              .formatted(text, parts.length));
    }
    double[] seconds = new double[parts.length];
    Arrays.setAll(seconds, i -> number(parts[i]));
    return new StepSeconds(seconds[0], seconds[1], seconds[2], seconds[3]);
  }

  private static double number(String text) {
    double value = Amounts.decimal(text);
    if (Range.SECONDS.holds(value)) {
      return value;
    }
    throw new BadInputException(
        "--step-times: '%s' is no time; give 0 or 1e-18 to 1e9, like 0.5,1,1,1".formatted(text));
  }

  /** Of each chunk of a rank's share. */
  public OncePerStepTimes times(int stages, int chunks) {
    return new OncePerStepTimes(
        filled(stages, gather / chunks),
        filled(stages, reduce / chunks),
        filled(stages, gradientPass / chunks),
        filled(stages, update / chunks));
  }

  private static double[] filled(int size, double value) {
    double[] filled = new double[size];
    Arrays.fill(filled, value);
    return filled;
  }

  private double[] all() {
    return new double[] {update, reduce, gather, gradientPass};
  }

  /** Whether anything takes time. */
  public boolean isAny() {
    return Arrays.stream(all()).anyMatch(seconds -> seconds > 0);
  }

  /** Whether anything of a schedule does. */
  public boolean isOf(Schedule schedule) {
    boolean[] seen = seen(schedule);
    double[] seconds = all();
    return IntStream.range(0, seen.length).anyMatch(i -> seen[i] && seconds[i] > 0);
  }

  /** The times of what occurs in a schedule and takes any. */
  public String words(Schedule schedule) {
    boolean[] seen = seen(schedule);
    String[] names = {"update", "adding up", "gathering", "taking over"};
    double[] seconds = all();
    StringBuilder words = new StringBuilder();
    for (int i = 0; i < names.length; i++) {
      if (seen[i] && seconds[i] > 0) {
        words.append(", ").append(names[i]).append(' ').append(Numbers.plain(seconds[i]));
      }
    }
    return words.toString();
  }

  /** Which of the four occur. */
  private static boolean[] seen(Schedule schedule) {
    boolean[] seen = new boolean[4];
    for (int rank = 0; rank < schedule.ranks(); rank++) {
      for (long op : schedule.packed(rank)) {
        switch (Schedule.pass(op)) {
          case UPDATE -> seen[0] = true;
          case REDUCE -> seen[1] = true;
          case GATHER -> seen[2] = true;
          case HAND_ON -> seen[3] = true;
          case FORWARD, BACKWARD, BACKWARD_INPUT, BACKWARD_WEIGHT, RECOMPUTE -> {}
        }
      }
    }
    return seen;
  }
}
