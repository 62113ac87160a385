package dev.pipewright.app.cli.input;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.schedule.Recomputed;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What {@code --recompute} of a schedule says: whose forward passes run again for the backward
 * pass.
 *
 * @param words as given
 * @param stages the user's stages that recompute
 * @param exceptLast whether the last micro-batch keeps its activations, as torchgpipe's mode {@code
 *     except_last} has it: its backward pass follows its forward pass at once
 */
public record RecomputeFlag(String words, Set<Integer> stages, boolean exceptLast) {
  public static final String NONE = "none";

  private static final String EXCEPT_LAST = "except-last";
  private static final Pattern RANGE = Pattern.compile("(\\d+)(?:-(\\d+))?");

  /** Reads {@code none}, {@code all}, {@code except-last} or stages like {@code 0,2-3}. */
  public static RecomputeFlag of(String text, int stages) {
    boolean exceptLast = text.equals(EXCEPT_LAST);
    if (text.equals(NONE)) {
      return new RecomputeFlag(text, Set.of(), false);
    }
    Set<Integer> chosen = new TreeSet<>();
    boolean all = exceptLast || text.equals("all");
    for (String part : (all ? "0-" + (stages - 1) : text).split(",", -1)) {
      Matcher range = RANGE.matcher(part.strip());
      int first = range.matches() ? stage(range.group(1), stages) : -1;
      int last = range.matches() && range.group(2) != null ? stage(range.group(2), stages) : first;
      if (first < 0 || last < first) {
        throw new BadInputException(
            "--recompute: '%s' names no stages; write none, all, except-last, or stages from 0 to %d like %s"
                .formatted(part, stages - 1, stages > 1 ? "0,1 or 0-" + (stages - 1) : "0"));
      }
      for (int stage = first; stage <= last; stage++) {
        chosen.add(stage);
      }
    }
    return new RecomputeFlag(text, Set.copyOf(chosen), exceptLast);
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

  /** Refuses to leave out the last micro-batch where there is none. */
  public void checkFlushes(String name, boolean flushes) {
    if (exceptLast && !flushes) {
      throw new BadInputException(
          "--recompute: except-last keeps the activations of a step's last micro-batch, and %s never flushes; take all, or stages like 0-1"
              .formatted(name));
    }
  }

  /**
   * Which forward passes run again.
   *
   * @param shareOf which of the user's stages each stage of the schedule is part of
   * @param microBatches of each chain
   */
  public Recomputed.Selector selector(int[] shareOf, int microBatches) {
    return stages.isEmpty()
        ? Recomputed.NONE
        : (stage, microBatch) ->
            stages.contains(shareOf[stage]) && !(exceptLast && microBatch == microBatches - 1);
  }
}
