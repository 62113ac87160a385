package dev.pipewright.formats.schedule;

import dev.pipewright.formats.file.BadInputException;
import dev.pipewright.schedule.Op.Pass;
import dev.pipewright.schedule.Placement;
import dev.pipewright.schedule.Schedule;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * One action of PyTorch's schedule files: a stage, what it does, and the micro-batch, such as
 * {@code 3F0} or {@code 3RECV_B0}.
 *
 * @param column where it begins in its line, from 1
 * @param joined whether it runs together with the next
 */
record ScheduleAction(Kind kind, int stage, int microBatch, int line, int column, boolean joined) {
  /** What a stage does. */
  enum Kind {
    FORWARD("F"),
    BACKWARD("B"),
    BACKWARD_INPUT("I"),
    BACKWARD_WEIGHT("W"),
    /** The whole backward pass in {@link OlderLetters}. */
    OLDER_BACKWARD("BW"),
    SEND_F("SEND_F"),
    RECV_F("RECV_F"),
    SEND_B("SEND_B"),
    RECV_B("RECV_B"),
    UNSHARD("UNSHARD"),
    RESHARD("RESHARD"),
    REDUCE_GRAD("REDUCE_GRAD");

    final String word;

    Kind(String word) {
      this.word = word;
    }

    boolean computes() {
      return switch (this) {
        case FORWARD, BACKWARD, BACKWARD_INPUT, BACKWARD_WEIGHT, OLDER_BACKWARD -> true;
        default -> false;
      };
    }

    /** Whether it is of a stage as a whole. */
    boolean ofStage() {
      return switch (this) {
        case UNSHARD, RESHARD, REDUCE_GRAD -> true;
        default -> false;
      };
    }

    /** The pass of an action that computes. */
    Pass pass() {
      return switch (this) {
        case FORWARD -> Pass.FORWARD;
        case BACKWARD, OLDER_BACKWARD -> Pass.BACKWARD;
        case BACKWARD_INPUT -> Pass.BACKWARD_INPUT;
        case BACKWARD_WEIGHT -> Pass.BACKWARD_WEIGHT;
        default -> throw new IllegalArgumentException(this + " computes nothing");
      };
    }
  }

  private static final Pattern FORM = Pattern.compile("(\\d+)([A-Z_]+?)(\\d*)");
  private static final Map<String, Kind> KINDS = new LinkedHashMap<>();

  private static final String TODAYS =
      Arrays.stream(Kind.values())
          .filter(kind -> kind != Kind.OLDER_BACKWARD)
          .map(kind -> kind.word)
          .collect(Collectors.joining(", "));

  static {
    for (Kind kind : Kind.values()) {
      KINDS.put(kind.word, kind);
    }
  }

  /** Reads what stands in a cell; throws {@link BadInputException} where it is no action. */
  static ScheduleAction of(Path file, int line, int column, String text, boolean joined) {
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      throw BadInputException.at(
          file,
          line,
          column,
          "'%s' is no action; write one like 3F0 or 3RECV_B0".formatted(shown(text)));
    }
    Kind kind = KINDS.get(form.group(2));
    if (kind == null) {
      throw BadInputException.at(
          file,
          line,
          column,
          "unknown action '%s' in '%s'; one of %s"
              .formatted(shown(form.group(2)), shown(text), TODAYS));
    }
    if (kind.ofStage() != form.group(3).isEmpty()) {
      throw BadInputException.at(
          file,
          line,
          column,
          kind.ofStage()
              ? "'%s' names a micro-batch; write %s%s"
                  .formatted(shown(text), shown(form.group(1)), kind.word)
              : "'%s' names no micro-batch; write one like %s0"
                  .formatted(shown(text), shown(text)));
    }
    int stage = number(file, line, column, text, form.group(1), MOST_STAGES);
    int microBatch =
        kind.ofStage() ? 0 : number(file, line, column, text, form.group(3), MOST_MICRO_BATCHES);
    return new ScheduleAction(kind, stage, microBatch, line, column, joined);
  }

  private static final int MOST_STAGES = 1 << 16;
  private static final int MOST_MICRO_BATCHES = 1 << 20;
  private static final int MOST_SHOWN = 40; // characters

  private static int number(
      Path file, int line, int column, String text, String digits, int below) {
    if (digits.length() > 9 || Integer.parseInt(digits) >= below) {
      throw BadInputException.at(
          file,
          line,
          column,
          "%s in '%s' is more than can be checked; count below %d"
              .formatted(shown(digits), shown(text), below));
    }
    return Integer.parseInt(digits);
  }

  /** A cell, shortened for a message. */
  private static String shown(String text) {
    return text.length() <= MOST_SHOWN ? text : text.substring(0, MOST_SHOWN - 3) + "...";
  }

  /** What is wrong with it. */
  FileProblem problem(Path file, String what, Placement placement, String words) {
    int number = kind.ofStage() ? -1 : microBatch;
    int rank = placement.rankOf(stage);
    return new FileProblem(file, line, column, what, rank, stage, number, words, List.of());
  }

  @Override
  public String toString() {
    return stage + kind.word + (kind.ofStage() ? "" : String.valueOf(microBatch));
  }

  /** A pass as these files write it. */
  static String word(long op) {
    return Schedule.stage(op) + Schedule.pass(op).letter() + Schedule.microBatch(op);
  }
}
