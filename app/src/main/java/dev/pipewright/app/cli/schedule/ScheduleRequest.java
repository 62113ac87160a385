package dev.pipewright.app.cli.schedule;

import dev.pipewright.app.cli.input.MemoryCaps;
import dev.pipewright.app.cli.input.Replicas;
import dev.pipewright.formats.file.Amounts;
import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.schedule.MemoryCap;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.catalog.ScheduleInput;
import dev.pipewright.schedule.search.OncePerStepTimes;
import dev.pipewright.schedule.search.OpTimes;
import dev.pipewright.units.Range;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * What a schedule is wanted for.
 *
 * @param stages ranks of the pipeline
 * @param microBatches of all directions
 * @param chunks stages of the network on each rank
 * @param times of a rank's share of the network and a micro-batch
 * @param timeLimit seconds that a search for the optimum may take
 * @param memoryCap in micro-batch activations of one rank's share
 * @param replicas of stages, where a schedule may have any
 */
public record ScheduleRequest(
    int stages,
    int microBatches,
    int chunks,
    Times times,
    double timeLimit,
    MemoryCap memoryCap,
    Replicas replicas)
    implements ScheduleInput {
  public static final double USUAL_LIMIT = 10; // seconds

  /** With the usual time for a search, the same cap for all ranks, and no replicas. */
  public ScheduleRequest(int stages, int microBatches, int chunks, Times times, double memoryCap) {
    this(
        stages,
        microBatches,
        chunks,
        times,
        USUAL_LIMIT,
        MemoryCap.of(memoryCap),
        Replicas.none(stages));
  }

  /**
   * What {@code --times} says.
   *
   * @param words as given
   * @param of forward, input and weight gradient: one number, or one per stage
   * @param transfers between neighbours: one number, or one per cut
   */
  public record Times(String words, List<List<Double>> of, List<Double> transfers) {
    static final String USUAL = "1,1,1,0";

    private static final List<String> NAMES = List.of("F", "B", "W", "comm");

    /** Reads {@code F,B,W,comm}; throws {@link BadInputException} where it is not that. */
    public static Times of(String text, int stages) {
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
        int most = i < 3 ? stages : stages - 1;
        if (values.size() != 1 && values.size() != most) {
          throw new BadInputException(
              "--times: %s=%s holds %d values for %d %s; give one number, or one per %s like 1:2:1"
                  .formatted(
                      NAMES.get(i),
                      parts[i],
                      values.size(),
                      most,
                      i < 3 ? "stages" : "cuts between stages",
                      i < 3 ? "stage" : "cut"));
        }
        of.add(List.copyOf(values));
      }
      if (of.subList(0, 3).stream().flatMap(List::stream).allMatch(seconds -> seconds == 0)) {
        throw new BadInputException(
            "--times: '%s' makes every pass take no time; give one a time above 0".formatted(text));
      }
      return new Times(text, List.copyOf(of.subList(0, 3)), of.get(3));
    }

    private static double number(String name, String text) {
      double value = Amounts.decimal(text);
      if (Range.SECONDS.holds(value)) {
        return value;
      }
      throw new BadInputException(
          "--times: %s=%s is no time; give 0 or 1e-18 to 1e9, like 1,1,1,0".formatted(name, text));
    }

    /** Those of a pass: of the share that each stage is part of, in equal parts. */
    private double[] each(int pass, int[] shareOf, int[] partsOf) {
      List<Double> values = of.get(pass);
      double[] each = new double[shareOf.length];
      Arrays.setAll(
          each, stage -> values.get(values.size() == 1 ? 0 : shareOf[stage]) / partsOf[stage]);
      return each;
    }

    /**
     * Those of every stage of a placement.
     *
     * @param shareOf whose number in this list a stage's time is part of
     * @param partsOf in how many equal parts that share is cut
     */
    public OpTimes of(int[] shareOf, int[] partsOf) {
      double[] forward = each(0, shareOf, partsOf);
      double[] cuts = new double[shareOf.length];
      for (int stage = 0; stage < shareOf.length - 1; stage++) {
        cuts[stage] = between(shareOf[stage], shareOf[stage + 1]);
      }
      return new OpTimes(
          forward,
          each(1, shareOf, partsOf),
          each(2, shareOf, partsOf),
          forward,
          cuts,
          cuts,
          OncePerStepTimes.none(shareOf.length),
          false);
    }

    /** Seconds of a transfer between two ranks: the longest of the cuts between them. */
    private double between(int rank, int other) {
      if (transfers.size() == 1) {
        return transfers.get(0);
      }
      return transfers.subList(Math.min(rank, other), Math.max(rank, other)).stream()
          .mapToDouble(Double::doubleValue)
          .max()
          .orElse(0);
    }

    /** The same where some of so many stages run their forward pass again in each backward pass. */
    Times recomputing(Set<Integer> recomputed, int stages) {
      int[] each = new int[stages];
      Arrays.setAll(each, stage -> stage);
      int[] whole = new int[stages];
      Arrays.fill(whole, 1);
      double[] input = each(1, each, whole);
      recomputed.forEach(stage -> input[stage] += of.get(0).get(of.get(0).size() == 1 ? 0 : stage));
      List<Double> longer = Arrays.stream(input).boxed().toList();
      return new Times(words, List.of(of.get(0), longer, of.get(2)), transfers);
    }

    /** Of each cut between so many stages. */
    double[] cuts(int stages) {
      double[] cuts = new double[stages - 1];
      Arrays.setAll(cuts, cut -> between(cut, cut + 1));
      return cuts;
    }

    /** In words, of {@code what} they are. */
    String words(String what) {
      String[] parts = words.split(",", -1);
      boolean free = transfers.stream().allMatch(seconds -> seconds == 0);
      return "F %s, B %s, W %s of %s, %s"
          .formatted(
              parts[0], parts[1], parts[2], what, free ? "transfers free" : "transfer " + parts[3]);
    }

    @Override
    public String toString() {
      return words("a stage");
    }
  }

  /** Whose share of the network each stage of a placement is part of. */
  public static int[] shareOf(Placement placement) {
    int[] shareOf = new int[placement.stages()];
    for (int stage = 0; stage < shareOf.length; stage++) {
      shareOf[stage] = placement.chains() > 1 ? stage % placement.depth() : placement.rankOf(stage);
    }
    return shareOf;
  }

  /** The times of every chunk of a placement: equal parts of a rank's share. */
  @Override
  public OpTimes opTimes(Placement placement) {
    int[] parts = new int[placement.stages()];
    Arrays.fill(parts, chunks);
    return times.of(shareOf(placement), parts);
  }

  /** The same where some stages recompute: what is searched for may go by it. */
  ScheduleRequest recomputing(Set<Integer> recomputed) {
    return recomputed.isEmpty()
        ? this
        : new ScheduleRequest(
            stages,
            microBatches,
            chunks,
            times.recomputing(recomputed, stages),
            timeLimit,
            memoryCap,
            replicas);
  }

  /** The same for another number of micro-batches. */
  ScheduleRequest withMicroBatches(int count) {
    return new ScheduleRequest(stages, count, chunks, times, timeLimit, memoryCap, replicas);
  }

  @Override
  public int[] replicasOfStages() {
    return replicas.array();
  }

  /** The cap of each rank; throws {@link BadInputException} where they are for another number. */
  @Override
  public double[] caps(int ranks) {
    return MemoryCaps.each(memoryCap, ranks);
  }
}
