package dev.pipewright.app.cli.input;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.formats.problem.SizeLimits;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * What {@code --replicas} says: how many ranks take each stage's micro-batches in turn.
 *
 * @param words to follow a statement of the times; empty where there are no replicas
 * @param each by stage
 */
public record Replicas(String words, List<Integer> each) {
  /** One rank for each stage. */
  public static Replicas none(int stages) {
    return new Replicas("", Collections.nCopies(stages, 1));
  }

  /** Reads one number, or one per stage. */
  public static Replicas of(String text, int stages, int microBatches) {
    List<Integer> given = new ArrayList<>();
    for (String part : text.split(":", -1)) {
      given.add(OptionValues.count("--replicas", part));
    }
    if (given.size() != 1 && given.size() != stages) {
      throw new BadInputException(
          "--replicas: '%s' holds %d numbers for %d stages; give one, or one per stage like 2:1"
              .formatted(text, given.size(), stages));
    }
    List<Integer> each = given.size() == 1 ? Collections.nCopies(stages, given.get(0)) : given;
    checkRanks(text, each);
    checkRounds(text, each, microBatches);
    return new Replicas(", replicas of stages " + text, List.copyOf(each));
  }

  private static void checkRanks(String text, List<Integer> each) {
    long ranks = each.stream().mapToLong(Integer::longValue).sum();
    if (ranks > SizeLimits.DEVICES) {
      throw new BadInputException(
          "--replicas: '%s' makes %d ranks, more than can be shown; take at most %d in all"
              .formatted(text, ranks, SizeLimits.DEVICES));
    }
  }

  /** Replicas of all stages have to have had the same number of turns at the end. */
  private static void checkRounds(String text, List<Integer> each, int microBatches) {
    long round = 1;
    for (int replicas : each) {
      round = round / gcd(round, replicas) * replicas;
      if (round > SizeLimits.PASSES) {
        throw new BadInputException(
            "--replicas: '%s' all have had their turn only after more micro-batches than can be shown; take numbers that divide each other, like 4:2:1"
                .formatted(text));
      }
    }
    if (microBatches % round != 0) {
      throw new BadInputException(
          "--micro-batches: replicas %s have all had their turn after every %d, so %d are refused; take %d"
              .formatted(text, round, microBatches, (microBatches / round + 1) * round));
    }
  }

  private static long gcd(long a, long b) {
    return b == 0 ? a : gcd(b, a % b);
  }

  public int[] array() {
    return each.stream().mapToInt(Integer::intValue).toArray();
  }
}
