package dev.pipewright.app.cli;

import dev.pipewright.formats.BadInputException;
import dev.pipewright.schedule.MemoryCap;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Recomputed;
import dev.pipewright.schedule.Schedule;
import dev.pipewright.schedule.periodic.StageLoad;
import dev.pipewright.schedule.timed.OpTimes;
import dev.pipewright.schedule.timed.StepTimes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

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
record ScheduleRequest(
    int stages,
    int microBatches,
    int chunks,
    Times times,
    double timeLimit,
    MemoryCap memoryCap,
    Replicas replicas) {
  static final double USUAL_LIMIT = 10; // seconds

  private static final double MOST_SECONDS = 1e15; // so that sums stay exact enough
  private static final Pattern RANGE = Pattern.compile("(\\d+)(?:-(\\d+))?");

  /** With the usual time for a search, the same cap for all ranks, and no replicas. */
  ScheduleRequest(int stages, int microBatches, int chunks, Times times, double memoryCap) {
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
  record Times(String words, List<List<Double>> of, List<Double> transfers) {
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

    /** Of each cut between so many stages. */
    double[] cuts(int stages) {
      double[] cuts = new double[stages - 1];
      Arrays.setAll(cuts, cut -> between(cut, cut + 1));
      return cuts;
    }

    @Override
    public String toString() {
      String[] parts = words.split(",", -1);
      return "F %s, B %s, W %s of a stage, transfer %s"
          .formatted(parts[0], parts[1], parts[2], parts[3]);
    }
  }

  /**
   * What {@code --recompute} says: of which of the user's stages the forward passes run again.
   *
   * @param words as given
   */
  record Recompute(String words, Set<Integer> stages) {
    /** Reads {@code none}, {@code all} or stages like {@code 0,2-3}. */
    static Recompute of(String text, int stages) {
      if (text.equals("none")) {
        return new Recompute(text, Set.of());
      }
      Set<Integer> chosen = new TreeSet<>();
      for (String part : (text.equals("all") ? "0-" + (stages - 1) : text).split(",", -1)) {
        Matcher range = RANGE.matcher(part.strip());
        int first = range.matches() ? stage(range.group(1), stages) : -1;
        int last =
            range.matches() && range.group(2) != null ? stage(range.group(2), stages) : first;
        if (first < 0 || last < first) {
          throw new BadInputException(
              "--recompute: '%s' names no stages; write none, all, or stages from 0 to %d like %s"
                  .formatted(part, stages - 1, stages > 1 ? "0,1 or 0-" + (stages - 1) : "0"));
        }
        for (int stage = first; stage <= last; stage++) {
          chosen.add(stage);
        }
      }
      return new Recompute(text, Set.copyOf(chosen));
    }

    /** The stage, or −1 where there is none such. */
    private static int stage(String digits, int stages) {
      try {
        int stage = Integer.parseInt(digits);
        return stage < stages ? stage : -1;
      } catch (NumberFormatException e) {
        return -1; // more digits than any stage has
      }
    }

    /** The same schedule with those forward passes run again. */
    Schedule in(Schedule schedule) {
      int[] shareOf = shareOf(schedule.placement());
      return Recomputed.of(schedule, (stage, microBatch) -> stages.contains(shareOf[stage]));
    }
  }

  /** Whose share of the network each stage of a placement is part of. */
  private static int[] shareOf(Placement placement) {
    int[] shareOf = new int[placement.stages()];
    for (int stage = 0; stage < shareOf.length; stage++) {
      shareOf[stage] = placement.chains() > 1 ? stage % placement.depth() : placement.rankOf(stage);
    }
    return shareOf;
  }

  /** The times of every chunk of a placement: equal parts of a rank's share. */
  OpTimes opTimes(Placement placement) {
    int[] shareOf = shareOf(placement);
    double[] forward = times.each(0, shareOf, chunks);
    double[] transfers = new double[shareOf.length];
    for (int stage = 0; stage < shareOf.length - 1; stage++) {
      transfers[stage] = times.between(shareOf[stage], shareOf[stage + 1]);
    }
    return new OpTimes(
        forward,
        times.each(1, shareOf, chunks),
        times.each(2, shareOf, chunks),
        forward,
        transfers,
        transfers,
        StepTimes.none(shareOf.length),
        false);
  }

  /** What each stage costs a batch, for patterns that repeat. */
  List<StageLoad> stageLoads() {
    OpTimes each = opTimes(Placement.straight(stages));
    List<StageLoad> loads = new ArrayList<>();
    for (int stage = 0; stage < stages; stage++) {
      double backward = each.input()[stage] + each.weight()[stage];
      loads.add(new StageLoad(each.forward()[stage], backward, 0, 1));
    }
    return loads;
  }

  /** The cap of each rank; throws {@link BadInputException} where they are for another number. */
  double[] caps(int ranks) {
    return MemoryCaps.each(memoryCap, ranks);
  }

  /** The cap of each stage's rank in activations of one chunk, where there is one. */
  int[] chunkCaps(int otherwise) {
    return Arrays.stream(caps(stages))
        .mapToInt(cap -> (int) Math.min(otherwise, Math.floor(cap * chunks)))
        .toArray();
  }

  /** The least of them. */
  int chunkCap(int otherwise) {
    return Arrays.stream(chunkCaps(otherwise)).min().orElse(otherwise);
  }
}
