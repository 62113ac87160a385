package dev.pipewright.app.cli;

import dev.pipewright.formats.BadInputException;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.timed.OpTimes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What a schedule is wanted for.
 *
 * @param stages ranks of the pipeline
 * @param microBatches of all directions
 * @param chunks stages of the network on each rank
 * @param times of a rank's share of the network and a micro-batch
 * @param memoryCap in micro-batch activations of one rank's share; infinite for none
 */
record ScheduleRequest(int stages, int microBatches, int chunks, Times times, double memoryCap) {
  private static final double MOST_SECONDS = 1e15; // so that sums stay exact enough

  /**
   * What {@code --times} says.
   *
   * @param words as given
   * @param of forward, input and weight gradient: one number, or one per stage
   */
  record Times(String words, List<List<Double>> of, double transfer) {
    private static final List<String> NAMES = List.of("F", "B", "W", "comm");

    /** Reads {@code F,B,W,comm}; throws {@link BadInputException} where it is not that. */
    static Times of(String text, int stages) {
      String[] parts = text.split(",", -1);
      if (parts.length != NAMES.size()) {
        throw new BadInputException(
            "--times: '%s' holds %d values; write F,B,W,comm, like 1,1,1,0"
                .formatted(text, parts.length));
      }
      List<List<Double>> of = new ArrayList<>();
      for (int i = 0; i < parts.length; i++) {
        List<Double> values = new ArrayList<>();
        for (String part : parts[i].split(":", -1)) {
          values.add(number(NAMES.get(i), part));
        }
        int most = i < 3 ? stages : 1;
        if (values.size() != 1 && values.size() != most) {
          throw new BadInputException(
              "--times: %s=%s holds %d values for %d stages; give one number, or one per stage"
                      .formatted(NAMES.get(i), parts[i], values.size(), stages)
                  + (i < 3 ? " like 1:2:1" : ", but one for comm"));
        }
        of.add(List.copyOf(values));
      }
      if (of.subList(0, 3).stream().flatMap(List::stream).allMatch(seconds -> seconds == 0)) {
        throw new BadInputException(
            "--times: '%s' makes every pass take no time; give one a time above 0".formatted(text));
      }
      return new Times(text, List.copyOf(of.subList(0, 3)), of.get(3).get(0));
    }

    private static double number(String name, String text) {
      try {
        double value = Double.parseDouble(text.strip());
        if (value >= 0 && value <= MOST_SECONDS) {
          return value;
        }
      } catch (NumberFormatException e) {
        // said below, as for a negative one
      }
      throw new BadInputException(
          "--times: %s=%s is no time; give numbers from 0 to 1e15, like 1,1,1,0"
              .formatted(name, text));
    }

    private double[] each(int pass, int[] shareOf, int chunks) {
      List<Double> values = of.get(pass);
      return Arrays.stream(shareOf)
          .mapToDouble(share -> values.get(values.size() == 1 ? 0 : share) / chunks)
          .toArray();
    }

    @Override
    public String toString() {
      String[] parts = words.split(",", -1);
      return "F %s, B %s, W %s of a stage, transfer %s"
          .formatted(parts[0], parts[1], parts[2], parts[3]);
    }
  }

  /** The times of every chunk of a placement: equal parts of a rank's share. */
  OpTimes opTimes(Placement placement) {
    int[] shareOf = new int[placement.stages()];
    for (int stage = 0; stage < shareOf.length; stage++) {
      shareOf[stage] = placement.chains() > 1 ? stage % placement.depth() : placement.rankOf(stage);
    }
    return OpTimes.of(
        times.each(0, shareOf, chunks),
        times.each(1, shareOf, chunks),
        times.each(2, shareOf, chunks),
        times.transfer());
  }

  /** The cap in activations of one chunk, where there is one. */
  int chunkCap(int otherwise) {
    return (int) Math.min(otherwise, Math.floor(memoryCap * chunks));
  }
}
